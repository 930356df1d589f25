//! [`GuestMap`]: stage 2 map of a VM.

use crate::tables::{ENTRIES, Table, Tables, VALID, Words, parts, take};
use crate::{Error, Frames};
use core::sync::atomic::{AtomicU64, Ordering};

/// Access rights of a VM to a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Own memory: read, write, execute.
    Full,
    /// Shared memory: read and write.
    ReadWrite,
    /// Shared memory: read.
    ReadOnly,
    /// Device registers: read and write.
    Device,
}

/// Stage 2 map of a VM.
pub struct GuestMap {
    tables: Tables<Table>,
    /// Bitmap of the root entries in use.
    used: [u64; ENTRIES / WORD],
    /// Number of words of the bitmap up to the last that is not zero.
    words: usize,
}

/// Bytes mapped by a root entry.
const GIBIBYTE: usize = 1 << 30;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

// Descriptors of stage 2 (Arm ARM, D8.3.2 and D8.5).
const ACCESS_FLAG: u64 = 1 << 10;
const READ: u64 = 0b01 << 6;
const READ_WRITE: u64 = 0b11 << 6;
const EXECUTE_NEVER: u64 = 1 << 54;
/// Normal memory, inner and outer write-back, inner shareable; stage 1 can restrict it further.
const NORMAL: u64 = VALID | ACCESS_FLAG | 0b1111 << 2 | 0b11 << 8;
/// Device memory, nGnRE.
const DEVICE: u64 = VALID | ACCESS_FLAG | 0b0001 << 2;

/// Descriptor attributes of the access rights.
pub(crate) const fn attributes(access: Access) -> u64 {
    match access {
        Access::Full => NORMAL | READ_WRITE,
        Access::ReadWrite => NORMAL | READ_WRITE | EXECUTE_NEVER,
        Access::ReadOnly => NORMAL | READ | EXECUTE_NEVER,
        Access::Device => DEVICE | READ_WRITE | EXECUTE_NEVER,
    }
}

impl GuestMap {
    /// Empty map that allocates its tables from `supply`.
    ///
    /// # Errors
    ///
    /// If the supply has no frame left.
    pub fn new(supply: &'static dyn Frames) -> Result<Self, Error> {
        Ok(Self {
            tables: Tables::new(take(supply)?, supply),
            used: [0; ENTRIES / WORD],
            words: 0,
        })
    }

    /// Maps `size` bytes at intermediate physical address `ipa` to physical address `pa`.
    pub fn map(&mut self, ipa: usize, pa: usize, size: usize, access: Access) -> Result<(), Error> {
        self.tables.map(ipa, pa, size, attributes(access))?;
        for entry in ipa / GIBIBYTE..(ipa + size).div_ceil(GIBIBYTE) {
            self.used[entry / WORD] |= 1 << (entry % WORD);
            self.words = self.words.max(entry / WORD + 1);
        }
        Ok(())
    }

    /// Physical address to which `ipa` is mapped.
    #[must_use]
    pub fn translate(&self, ipa: usize) -> Option<usize> {
        let (entry, grain) = self.tables.find(ipa)?;
        Some(parts(entry, grain).0 | ipa & (grain - 1))
    }

    /// Physical address of the root table, for `VTTBR_EL2`.
    #[must_use]
    pub fn root(&self) -> usize {
        self.tables.root.as_ptr() as usize
    }

    /// Withdraws the map: makes all root entries invalid. Cores that use the map fault once its TLB
    /// entries are invalidated.
    pub fn withdraw(&self) {
        self.withdraw_in(self.tables.root);
    }

    /// As [`Self::withdraw`], through another mapping of the root table.
    pub fn withdraw_in(&self, root: &Words) {
        self.used_entries(root, |entry| {
            entry.fetch_and(!VALID, Ordering::Release);
        });
    }

    /// Reverts [`Self::withdraw`]. No TLB invalidation is needed: invalid entries are not cached
    /// (Arm ARM, D5.10.1).
    pub fn restore(&self) {
        self.restore_in(self.tables.root);
    }

    /// As [`Self::restore`], through another mapping of the root table.
    pub fn restore_in(&self, root: &Words) {
        self.used_entries(root, |entry| {
            entry.fetch_or(VALID, Ordering::Release);
        });
    }

    /// Calls `each` with the root entries in use.
    fn used_entries(&self, root: &Words, mut each: impl FnMut(&AtomicU64)) {
        let words = self.used.iter().take(self.words);
        for (&(mut used), entries) in words.zip(root.as_chunks::<WORD>().0) {
            while used != 0 {
                each(&entries[used.trailing_zeros() as usize % WORD]);
                used &= used - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, GuestMap};
    use crate::Error;
    use crate::frames::supply;

    #[test]
    fn aligned_memory_takes_blocks_only() {
        let frames = supply::<8>();
        let mut guest = GuestMap::new(frames).unwrap();
        guest
            .map(0x4000_0000, 0x5800_0000, 16 << 20, Access::Full)
            .unwrap();
        assert_eq!(frames.available(), 6, "root and one level-2 table");
        assert_eq!(guest.translate(0x40ff_ffff), Some(0x58ff_ffff));
        assert_eq!(guest.translate(0x4100_0000), None);
        assert_eq!(guest.translate(0x3fff_ffff), None);
    }

    #[test]
    fn pages_where_blocks_do_not_fit() {
        let mut guest = GuestMap::new(supply::<8>()).unwrap();
        guest
            .map(0x8000_0000, 0x4567_1000, 0x3000, Access::ReadOnly)
            .unwrap();
        assert_eq!(guest.translate(0x8000_2abc), Some(0x4567_3abc));
        assert_eq!(guest.translate(0x8000_3000), None);
    }

    #[test]
    fn what_is_withdrawn_comes_back() {
        let mut guest = GuestMap::new(supply::<8>()).unwrap();
        guest
            .map(0x4000_0000, 0x5800_0000, 16 << 20, Access::Full)
            .unwrap();
        let end = 1 << 39;
        guest
            .map(end - 0x20_0000, 0x5a00_0000, 0x20_0000, Access::Full)
            .unwrap();
        // A range that crosses a boundary of root entries.
        guest
            .map(0xbfe0_0000, 0x5c00_0000, 0x40_0000, Access::Full)
            .unwrap();
        let places = [0x4000_0000, end - 1, 0xbfe0_0000, 0xc000_0000];
        let before = places.map(|ipa| guest.translate(ipa));
        assert!(before.iter().all(Option::is_some));
        guest.withdraw();
        assert_eq!(places.map(|ipa| guest.translate(ipa)), [None; 4]);
        guest.restore();
        assert_eq!(places.map(|ipa| guest.translate(ipa)), before);
        assert_eq!(guest.translate(0x8000_0000), None);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let mut guest = GuestMap::new(supply::<8>()).unwrap();
        assert_eq!(
            guest.map(0x800, 0, 0x1000, Access::Full),
            Err(Error::Unaligned(0x800))
        );
        assert_eq!(
            guest.map(0, 0x1000, 7, Access::Full),
            Err(Error::Unaligned(7))
        );
        let end = 1 << 39;
        assert_eq!(
            guest.map(end - 0x1000, 0, 0x2000, Access::Full),
            Err(Error::OutOfRange(end + 0x1000))
        );
        assert!(
            guest
                .map(usize::MAX & !0xfff, 0, 0x1000, Access::Full)
                .is_err()
        );
    }
}
