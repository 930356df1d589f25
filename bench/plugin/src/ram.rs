//! QEMU's mapping of the machine's RAM.

#![expect(unsafe_code, reason = "reads memory that QEMU mapped")]

use std::fs;
use std::path::Path;

use core_colouring::ColouredMemory;

/// The mapping of the RAM file in this process.
#[derive(Clone, Copy, Debug)]
pub struct Ram {
    host: usize,
    base: u64,
    size: u64,
    /// Memory that is owned by colour: addresses count the pages of each part consecutively.
    coloured: Option<ColouredMemory>,
}

impl Ram {
    /// The mapping of `file`, once it exists.
    pub fn find(
        file: &Path,
        base: u64,
        size: u64,
        coloured: Option<ColouredMemory>,
    ) -> Option<Ram> {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let host = maps.lines().find_map(|line| mapping(line, file, size))?;
        Some(Ram {
            host,
            base,
            size,
            coloured,
        })
    }

    /// The physical address of a host address, if it is RAM.
    pub fn behind(&self, host: usize) -> Option<u64> {
        let offset = host.checked_sub(self.host)? as u64;
        (offset < self.size).then(|| self.address(self.base + offset))
    }

    /// The counted address of a physical address.
    pub fn address(&self, physical: u64) -> u64 {
        self.coloured
            .map_or(physical, |coloured| coloured.address(physical))
    }

    /// The word at an aligned address.
    pub fn word(&self, address: u64) -> Option<u64> {
        let physical = self
            .coloured
            .map_or(address, |coloured| coloured.place(address).0);
        let offset = physical.checked_sub(self.base)?;
        if !offset.is_multiple_of(8) || offset.checked_add(8)? > self.size {
            return None;
        }
        let pointer = (self.host + offset as usize) as *const u64;
        // SAFETY: `find` saw `size` readable bytes mapped at `host`, which QEMU keeps for its
        // lifetime; the offset is aligned and inside. Volatile, as guests write it concurrently.
        Some(unsafe { pointer.read_volatile() })
    }

    /// The 32-bit value at an aligned address.
    pub fn half(&self, address: u64) -> Option<u32> {
        let word = self.word(address & !7)?;
        Some((word >> (8 * (address & 4))) as u32)
    }
}

/// The host address at which a line of the maps file says that the whole of `file` is mapped.
fn mapping(line: &str, file: &Path, size: u64) -> Option<usize> {
    let (range, rest) = line.split_once(' ')?;
    let offset = rest.split(' ').nth(1)?;
    let path = &line[line.find('/')?..];
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let whole = u64::from_str_radix(offset, 16) == Ok(0) && (end - start) as u64 >= size;
    (Path::new(path) == file && whole).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_mapping_is_found() {
        let line = "7f0000000000-7f0000002000 rw-s 00000000 00:1a 7    /dev/shm/run 1/ram";
        let file = Path::new("/dev/shm/run 1/ram");
        assert_eq!(mapping(line, file, 0x2000), Some(0x7f00_0000_0000));
        assert_eq!(mapping(line, file, 0x3000), None);
        assert_eq!(mapping("7f00-7f01 rw-p 00000000 00:00 0 ", file, 1), None);
    }

    #[test]
    fn pages_of_a_part_are_counted_as_consecutive() {
        // Four pages of two colours, one for each of two parts.
        let mut words = vec![0_u64; 2048];
        words[512] = 7;
        let host = words.as_ptr() as usize;
        let ram = Ram {
            host,
            base: 0x8000,
            size: 0x4000,
            coloured: ColouredMemory::new(0x8000, 0x4000, 2, &[1, 2]),
        };
        assert_eq!(ram.word(0xa000), Some(7), "the second part's first page");
        assert_eq!(ram.behind(host + 0x1008), Some(0xa008));
        assert_eq!(ram.address(0xa010), 0x9010);
    }

    #[test]
    fn addresses_outside_are_refused() {
        let words = [1_u64, 0x0000_0003_0000_0002];
        let host = words.as_ptr() as usize;
        let ram = Ram {
            host,
            base: 0x4000_0000,
            size: 16,
            coloured: None,
        };
        assert_eq!(ram.word(0x4000_0000), Some(1));
        assert_eq!(ram.half(0x4000_000c), Some(3));
        assert_eq!(
            (ram.word(0x4000_0010), ram.word(0x3fff_fff8), ram.word(4)),
            (None, None, None)
        );
        assert_eq!(
            (ram.behind(host + 8), ram.behind(host + 16)),
            (Some(0x4000_0008), None)
        );
    }
}
