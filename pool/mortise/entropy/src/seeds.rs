//! Seeds in the device tree of a VM, written before each start.

use crate::{
    generator::Generator,
    tree::{self, Property},
};
use core::{
    ops::Range,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
};
use core_manifest::Vm;
use core_memory::{IntermediateRange, PhysicalRange};
use mortise_machine::colouring;
use mortise_transfer::{LINE, Transfer};

/// Properties that get new values at each start.
const NAMES: [&str; 2] = ["rng-seed", "kaslr-seed"];
/// Bytes of a cell.
const CELL: usize = 4;
/// Steps for a pair of cells.
const STEPS: usize = 5;

/// Where the seeds of a VM lie.
pub struct Seeds {
    /// Its device tree, in the addresses of the manifest.
    tree: PhysicalRange,
    properties: [Option<Property>; NAMES.len()],
    /// Steps done in this start, five for each pair of cells: draw, and for each cell store, clean.
    done: AtomicUsize,
    /// The value of the pair.
    value: AtomicU64,
}

impl Seeds {
    /// The seeds of a VM with the address of a device tree as its argument. Called on the boot core,
    /// which maps all memory, before any VM runs.
    pub fn of(vm: &Vm) -> Option<Self> {
        let header = IntermediateRange::new(vm.argument, tree::HEADER as u64)?;
        let physical = vm.translate(&header)?;
        let payload = (vm.payloads.iter()).find(|payload| payload.target.contains(&header));
        // A tree that is not copied lies where it is used.
        let source = match payload {
            Some(payload) => {
                payload.source.start() + payload.target.offset_of(vm.argument).unwrap_or(0)
            }
            None => physical.start(),
        };
        // SAFETY: the header lies in a payload or in the VM's memory; no VM runs yet.
        let size = tree::size(unsafe { bytes(source, tree::HEADER) })?;
        let whole = IntermediateRange::new(vm.argument, size as u64)?;
        let tree = vm.translate(&whole)?;
        payload
            .is_none_or(|payload| payload.target.contains(&whole))
            .then_some(())?;
        // SAFETY: all of the tree lies in a payload or in the VM's memory; no VM runs yet.
        let found = unsafe { bytes(source, size) };
        let properties = NAMES.map(|name| tree::chosen(found, name));
        let any = properties.iter().any(Option::is_some);
        any.then_some(Self {
            tree,
            properties,
            done: AtomicUsize::new(0),
            value: AtomicU64::new(0),
        })
    }

    /// Does a step, `part` 0 first: towards two cells of a value or, without a generator, of a property
    /// that is removed; the last steps refresh the generator. Returns whether more follow. Nothing is
    /// done while `stop` returns true. The VM does not run.
    pub fn write(
        &self,
        part: usize,
        generator: Option<&mut Generator>,
        transfer: &Transfer,
        stop: impl Fn() -> bool,
    ) -> bool {
        if part == 0 {
            self.done.store(0, Ordering::Relaxed);
        }
        if stop() {
            return true;
        }
        let done = self.done.load(Ordering::Relaxed);
        let Some((cells, more)) = self.pair(done / STEPS, generator.is_some()) else {
            return generator.is_some_and(Generator::refresh);
        };
        let more = more || generator.is_some();
        let Some(step) = (done % STEPS).checked_sub(1) else {
            let nops = u64::from_le_bytes([0, 0, 0, tree::NOP as u8, 0, 0, 0, tree::NOP as u8]);
            if let Some(value) = generator.map_or(Some(nops), Generator::word) {
                self.value.store(value, Ordering::Relaxed);
                self.done.store(done + 1, Ordering::Relaxed);
            }
            return true;
        };
        let at = cells.start + step / 2 * CELL;
        if step % 2 == 0 {
            let cell = (self.value.load(Ordering::Relaxed) >> (16 * step)) as u32;
            if at < cells.end && !self.store(at, cell, transfer, stop) {
                return true;
            }
        } else {
            if at < cells.end {
                self.clean(at, transfer);
            }
            if step + 2 == STEPS {
                self.value.store(0, Ordering::Relaxed);
            }
        }
        self.done.store(done + 1, Ordering::Relaxed);
        step + 2 < STEPS || more
    }

    /// The cells of a pair, and whether more follow.
    fn pair(&self, pair: usize, seeded: bool) -> Option<(Range<usize>, bool)> {
        let mut left = pair;
        let mut ranges = self
            .properties
            .iter()
            .flatten()
            .map(|property| match seeded {
                true => property.value.start..property.value.end / CELL * CELL,
                false => property.whole.clone(),
            });
        while let Some(range) = ranges.next() {
            let pairs = range.len().div_ceil(2 * CELL);
            if left < pairs {
                let start = range.start + left * 2 * CELL;
                let cells = start..range.end.min(start + 2 * CELL);
                return Some((cells, left + 1 < pairs || ranges.next().is_some()));
            }
            left -= pairs;
        }
        None
    }

    /// Stores a cell at an offset in the tree. Returns false, with nothing stored, if `stop` returns
    /// true.
    fn store(&self, at: usize, cell: u32, transfer: &Transfer, stop: impl Fn() -> bool) -> bool {
        let (place, _) = colouring::piece(self.tree, at as u64);
        let (word, shift) = (place & !7, (place & 4) * 8);
        let mut words = [0];
        // SAFETY: the windows are those of the executing core, and the aligned word of the cell lies
        // in the RAM of a VM that does not run.
        unsafe {
            transfer.read(word, &mut words);
            if stop() {
                return false;
            }
            words = words.map(|old| old & !(0xffff_ffff << shift) | u64::from(cell) << shift);
            transfer.write(word, &words);
        }
        true
    }

    /// Cleans the line of a cell to the point of coherency.
    fn clean(&self, at: usize, transfer: &Transfer) {
        let (place, _) = colouring::piece(self.tree, at as u64);
        // SAFETY: the windows are those of the executing core, and the line lies in the RAM of a VM
        // that does not run.
        unsafe { transfer.clean_line(place & !(LINE as u64 - 1)) };
    }
}

/// The bytes at a physical address.
///
/// # Safety
///
/// To be called on the boot core, which maps all memory. The range is RAM that does not change.
pub unsafe fn bytes(start: u64, size: usize) -> &'static [u8] {
    // SAFETY: the caller states that the range is mapped and does not change.
    unsafe { core::slice::from_raw_parts(start as *const u8, size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(properties: [Option<Property>; 2]) -> Seeds {
        let tree = PhysicalRange::new(0x4000_0000, 0x1000).unwrap();
        Seeds {
            tree,
            properties,
            done: AtomicUsize::new(0),
            value: AtomicU64::new(0),
        }
    }

    fn all(seeds: &Seeds, seeded: bool) -> Vec<Range<usize>> {
        let mut cells = Vec::new();
        for part in 0.. {
            let Some((pair, more)) = seeds.pair(part, seeded) else {
                break;
            };
            assert!(pair.len() == 4 || pair.len() == 8);
            cells.push(pair);
            assert_eq!(more, seeds.pair(part + 1, seeded).is_some());
        }
        cells
    }

    #[test]
    fn the_parts_are_the_values_or_without_a_source_all_of_the_properties() {
        let blob =
            crate::tree::tests::tree("chosen", &[("rng-seed", &[0; 64]), ("kaslr-seed", &[0; 8])]);
        let found = NAMES.map(|name| tree::chosen(&blob, name));
        let [rng, kaslr] = found.clone().map(Option::unwrap);
        let whole = seeds(found);
        let cells = all(&whole, true);
        assert_eq!(cells.len(), 9);
        assert_eq!(cells[0].start..cells[7].end, rng.value);
        assert_eq!(cells[8], kaslr.value);
        let cells = all(&whole, false);
        assert_eq!(
            cells.iter().map(Range::len).sum::<usize>(),
            12 + 64 + 12 + 8
        );
        assert_eq!(cells[0].start, rng.whole.start);
        assert_eq!(cells.last().unwrap().end, kaslr.whole.end);
    }

    #[test]
    fn a_missing_property_has_no_part() {
        let blob = crate::tree::tests::tree("chosen", &[("kaslr-seed", &[0; 8])]);
        let cells = all(&seeds([None, tree::chosen(&blob, "kaslr-seed")]), true);
        assert_eq!(cells.len(), 1);
        assert!(all(&seeds([None, None]), true).is_empty());
    }
}
