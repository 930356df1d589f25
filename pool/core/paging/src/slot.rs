//! [`SlotMap`]: stage 2 map of a VM slot, used by one VM after the other.

use crate::guest::attributes;
use crate::tables::{ENTRIES, PAGE, TABLE_OR_PAGE, Table, VALID, Words, link, take};
use crate::{Access, Error, Frames};
use core::sync::atomic::{AtomicU64, Ordering};

const BLOCK: usize = ENTRIES * PAGE;
const GIBIBYTE: usize = ENTRIES * BLOCK;

/// Stage 2 map of a VM slot, used by one VM after the other.
///
/// Its four tables are allocated once: a root, a table of 2 MiB blocks for the gibibyte of memory, one
/// for that of the window, and a table of pages for the first block of the window. Mapping is a single
/// store, so it can be done on the core of a real-time guest, and it never needs another table.
pub struct SlotMap {
    root: Table,
    memory: Table,
    window: Table,
    pages: Table,
    memory_base: usize,
    window_base: usize,
}

impl SlotMap {
    /// Empty map with memory in the gibibyte at `memory_base` and a window in the gibibyte at
    /// `window_base`, both multiples of 1 GiB below 512 GiB; `None` if the supply has fewer than four
    /// frames.
    pub fn new(
        supply: &'static dyn Frames,
        memory_base: usize,
        window_base: usize,
    ) -> Option<Self> {
        let both = [memory_base, window_base];
        let fits = |base: usize| base.is_multiple_of(GIBIBYTE) && base < ENTRIES * GIBIBYTE;
        if memory_base == window_base || !both.into_iter().all(fits) || supply.available() < 4 {
            return None;
        }
        let take = || take(supply).ok();
        let map = Self {
            root: take()?,
            memory: take()?,
            window: take()?,
            pages: take()?,
            memory_base,
            window_base,
        };
        let link = |table: Table, index: usize, next: Table| {
            table[index % ENTRIES].store(link(next), Ordering::Relaxed);
        };
        link(map.root, memory_base / GIBIBYTE, map.memory);
        link(map.root, window_base / GIBIBYTE, map.window);
        link(map.window, 0, map.pages);
        Some(map)
    }

    /// Maps the block or page at `ipa` to physical address `pa`: 4 KiB in the first block of the window,
    /// 2 MiB elsewhere.
    ///
    /// # Errors
    ///
    /// If the map has no such entry, `pa` is not aligned to its size, or the entry is in use.
    pub fn map(&self, ipa: usize, pa: usize, access: Access) -> Result<(), Error> {
        let (entry, size) = self.entry(ipa)?;
        if !pa.is_multiple_of(size) {
            return Err(Error::Unaligned(pa));
        }
        let leaf = if size == PAGE { TABLE_OR_PAGE } else { 0 };
        let value = pa as u64 | attributes(access) | leaf;
        entry
            .compare_exchange(0, value, Ordering::Release, Ordering::Relaxed)
            .map(|_| ())
            .map_err(|_| Error::Live(ipa))
    }

    /// Unmaps the block or page at `ipa`. Cores that use the map can access it until its TLB entries are
    /// invalidated.
    pub fn unmap(&self, ipa: usize) -> Result<(), Error> {
        self.entry(ipa)
            .map(|(entry, _)| entry.store(0, Ordering::Release))
    }

    /// Physical address to which `ipa` is mapped, even if the map is withdrawn.
    #[must_use]
    pub fn translate(&self, ipa: usize) -> Option<usize> {
        let (entry, size) = self.entry(ipa & !(PAGE - 1)).ok().or_else(|| {
            let block = ipa & !(BLOCK - 1);
            self.entry(block).ok().filter(|&(_, size)| size == BLOCK)
        })?;
        let value = entry.load(Ordering::Relaxed);
        let target = value as usize & (GIBIBYTE * ENTRIES - 1) & !(size - 1);
        (value & VALID != 0).then_some(target | ipa & (size - 1))
    }

    /// Withdraws the map: makes all root entries invalid. Cores that use the map fault once its TLB
    /// entries are invalidated.
    pub fn withdraw(&self) {
        self.withdraw_in(self.root);
    }

    /// As [`Self::withdraw`], through another mapping of the root table.
    pub fn withdraw_in(&self, root: &Words) {
        for base in [self.memory_base, self.window_base] {
            root[base / GIBIBYTE % ENTRIES].fetch_and(!VALID, Ordering::Release);
        }
    }

    /// Reverts [`Self::withdraw`].
    pub fn restore(&self) {
        self.restore_in(self.root);
    }

    /// As [`Self::restore`], through another mapping of the root table.
    pub fn restore_in(&self, root: &Words) {
        for base in [self.memory_base, self.window_base] {
            root[base / GIBIBYTE % ENTRIES].fetch_or(VALID, Ordering::Release);
        }
    }

    /// Physical address of the root table, for `VTTBR_EL2`.
    #[must_use]
    pub fn root(&self) -> usize {
        self.root.as_ptr() as usize
    }

    /// The entry for `ipa`, and the number of bytes that it maps.
    fn entry(&self, ipa: usize) -> Result<(&AtomicU64, usize), Error> {
        let within = |base: usize| ipa.checked_sub(base).filter(|&offset| offset < GIBIBYTE);
        let (table, offset, size) = match (within(self.memory_base), within(self.window_base)) {
            (Some(offset), _) => (self.memory, offset, BLOCK),
            (None, Some(offset)) if offset < BLOCK => (self.pages, offset, PAGE),
            (None, Some(offset)) => (self.window, offset, BLOCK),
            (None, None) => return Err(Error::OutOfRange(ipa)),
        };
        if !offset.is_multiple_of(size) {
            return Err(Error::Unaligned(ipa));
        }
        Ok((&table[offset / size % ENTRIES], size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::supply;
    use core_memory::FramePool;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const MEMORY: usize = 0x4000_0000;
    const WINDOW: usize = 0x8000_0000;

    fn map() -> (&'static FramePool<5>, SlotMap) {
        let frames = supply();
        (frames, SlotMap::new(frames, MEMORY, WINDOW).unwrap())
    }

    #[test]
    fn four_tables_and_never_more() {
        let (frames, map) = map();
        assert_eq!(frames.available(), 1);
        assert!(SlotMap::new(frames, MEMORY, WINDOW).is_none());
        assert_eq!(frames.available(), 1, "what is not made takes nothing");
        for block in 0..ENTRIES {
            let (ipa, pa) = (MEMORY + block * BLOCK, block * BLOCK);
            map.map(ipa, pa, Access::Full).unwrap();
        }
        assert_eq!(map.translate(MEMORY + 0x3fff_ffff), Some(0x3fff_ffff));
        assert_eq!(frames.available(), 1);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (_, map) = map();
        let refused = |ipa, pa| map.map(ipa, pa, Access::Full).unwrap_err();
        assert_eq!(refused(0, 0), Error::OutOfRange(0));
        assert_eq!(refused(0xc000_0000, 0), Error::OutOfRange(0xc000_0000));
        assert_eq!(refused(MEMORY + PAGE, 0), Error::Unaligned(MEMORY + PAGE));
        assert_eq!(refused(MEMORY, PAGE), Error::Unaligned(PAGE));
        assert_eq!(refused(WINDOW, 8), Error::Unaligned(8));
        map.map(WINDOW, PAGE, Access::ReadOnly).unwrap();
        assert_eq!(refused(WINDOW, PAGE), Error::Live(WINDOW));
    }

    #[test]
    fn what_is_withdrawn_comes_back() {
        let (_, map) = map();
        map.map(MEMORY, 0, Access::Full).unwrap();
        let valid = || {
            map.root
                .iter()
                .filter(|e| e.load(Ordering::Relaxed) & VALID != 0)
        };
        map.withdraw();
        assert_eq!(valid().count(), 0);
        map.restore();
        assert_eq!(valid().count(), 2);
    }

    proptest! {
        #[test]
        fn agrees_with_a_list_of_what_was_mapped(
            steps in prop::collection::vec((any::<bool>(), 0usize..3, 0usize..4, 0usize..64), 1..80),
        ) {
            let (_, map) = map();
            let mut model = BTreeMap::new();
            for (put, place, index, target) in steps {
                let (ipa, size) = match place {
                    0 => (MEMORY + index * BLOCK, BLOCK),
                    1 => (WINDOW + index * PAGE, PAGE),
                    _ => (WINDOW + (index + 1) * BLOCK, BLOCK),
                };
                if put {
                    let mapped = map.map(ipa, target * size, Access::ReadWrite).is_ok();
                    prop_assert_eq!(mapped, !model.contains_key(&ipa));
                    model.entry(ipa).or_insert(target * size);
                } else {
                    map.unmap(ipa).unwrap();
                    model.remove(&ipa);
                }
                for (offset, size) in [(0, size), (size - 1, size)] {
                    let expected = model.get(&ipa).map(|pa| pa + offset % size);
                    prop_assert_eq!(map.translate(ipa + offset), expected);
                }
            }
        }
    }
}
