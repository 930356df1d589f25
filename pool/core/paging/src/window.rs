//! A view of memory that a kernel has for a moment.

use crate::{Error, KernelMap, Level, Use, pages};
use aarch64_paging::{
    descriptor::PhysicalAddress,
    paging::{Constraints, MemoryRegion},
};
use bitflags::Flags;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a window shows: one entry of level 2.
pub const WINDOW_SIZE: usize = 0x20_0000;

/// What stands in the entry of a window that is closed: not valid, and not zero, so that its table is
/// not taken for an empty one and given back.
const CLOSED: u64 = 0b10;

/// A place in the map of one core where it sees 2 MiB of memory that is not in its map otherwise.
///
/// Opening and closing write one entry: a handful of instructions, no table is built or freed.
pub struct Window<L: Level> {
    entry: &'static AtomicU64,
    address: usize,
    attributes: u64,
    level: PhantomData<fn() -> L>,
}

impl<L: Level> Window<L> {
    /// Shows the 2 MiB at physical address `block`, a multiple of as much, until it is closed, and
    /// returns where. Called on the core whose map this is.
    #[inline]
    pub fn open(&self, block: usize) -> usize {
        if self.entry.load(Ordering::Relaxed) != CLOSED {
            self.close();
        }
        let block = block & !(WINDOW_SIZE - 1);
        self.entry
            .store(block as u64 | self.attributes, Ordering::Release);
        hw_arch::barrier::dsb_ish();
        hw_arch::barrier::isb();
        self.address
    }

    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> usize {
        self.address
    }

    /// Shows nothing any more.
    #[inline]
    pub fn close(&self) {
        self.entry.store(CLOSED, Ordering::Release);
        L::invalidate_tlb();
    }
}

impl<L: Level> KernelMap<L> {
    /// A window at `address`, a multiple of 2 MiB where nothing is mapped; closed.
    ///
    /// # Safety
    ///
    /// The map must stay for good, and nothing may be mapped or unmapped at `address` any more.
    pub unsafe fn window(&mut self, address: usize) -> Result<Window<L>, Error> {
        let region = pages(address, WINDOW_SIZE, 0)?;
        if !address.is_multiple_of(WINDOW_SIZE) {
            return Err(Error::Unaligned(address));
        }
        let attributes = L::attributes(Use::Data);
        self.inner
            .0
            .map_range(
                &region,
                PhysicalAddress(0),
                attributes,
                Constraints::NO_CONTIGUOUS_HINT,
            )
            .map_err(|error| crate::explain(&error, address))?;
        let mut place = None;
        let first = MemoryRegion::new(address, address + 1);
        let walked = self
            .inner
            .0
            .walk_range(&first, &mut |_, descriptor, level| {
                if level == 2 {
                    place = Some(core::ptr::from_ref(descriptor).cast::<AtomicU64>());
                }
                Ok(())
            });
        let entry = walked.ok().and(place).ok_or(Error::OutOfRange(address))?;
        // SAFETY: a descriptor is one atomic word of a table, which stays for good, as the map does.
        let entry = unsafe { &*entry };
        let window = Window {
            entry,
            address,
            attributes: attributes.bits() as u64,
            level: PhantomData,
        };
        window.close();
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_memory::FramePool;
    use hw_arch::El2;

    const AT: usize = 1 << 38;

    fn map() -> (&'static FramePool<4>, KernelMap<El2>) {
        let frames: &'static FramePool<4> = Box::leak(Box::new(FramePool::new()));
        (frames, KernelMap::new(frames))
    }

    #[test]
    fn what_is_behind_it_changes_by_one_entry() {
        let (frames, mut map) = map();
        // SAFETY: the map is forgotten at the end, its tables stay.
        let window = unsafe { map.window(AT) }.unwrap();
        assert_eq!(map.find(AT), None, "closed at first");
        let left = frames.available();
        assert_eq!(window.open(0x6020_0000), AT);
        assert_eq!(map.find(AT + WINDOW_SIZE - 1), Some(Use::Data));
        assert_eq!(map.find(AT + WINDOW_SIZE), None);
        let shown = window.entry.load(Ordering::Relaxed);
        assert_eq!(shown & 0x7f_ffe0_0000, 0x6020_0000);
        assert_eq!(window.open(0x6040_0000), AT, "closed between");
        window.close();
        assert_eq!((map.find(AT), frames.available()), (None, left));
        core::mem::forget(map);
    }

    #[test]
    fn a_closed_window_keeps_its_table() {
        let (frames, mut map) = map();
        // SAFETY: as above.
        let window = unsafe { map.window(AT) }.unwrap();
        let left = frames.available();
        map.map(0x4000_0000, 0x20_0000, Use::Data).unwrap();
        map.unmap(0x4000_0000, 0x20_0000).unwrap();
        assert_eq!(frames.available(), left);
        window.open(0);
        assert_eq!(map.find(AT), Some(Use::Data));
        core::mem::forget(map);
    }

    #[test]
    fn it_begins_at_a_block() {
        let (_, mut map) = map();
        // SAFETY: nothing is made.
        let refused = unsafe { map.window(AT + 0x1000) }.err();
        assert_eq!(refused, Some(Error::Unaligned(AT + 0x1000)));
    }
}
