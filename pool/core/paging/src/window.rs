//! Window: one level 2 entry by which a core maps foreign memory for one operation.

use crate::Use;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};
use hw_arch::{ExceptionLevel, mmu};

/// Size of a window in bytes: one block entry of level 2.
pub const WINDOW_SIZE: usize = 0x20_0000;

/// Entry of a closed window: invalid, but not zero, so that the entry counts as used and
/// [`KernelMap::map`](crate::KernelMap::map) refuses it.
const CLOSED: u64 = 0b10;

/// Virtual address range of 2 MiB in the map of one core, through which the core accesses memory that
/// its map does not contain.
///
/// Opening and closing write one entry, in a few instructions; no table is allocated or freed.
pub struct Window<L: ExceptionLevel> {
    entry: &'static AtomicU64,
    address: usize,
    attributes: u64,
    level: PhantomData<fn() -> L>,
}

impl<L: ExceptionLevel> Window<L> {
    /// Closed window at `address`, translated by the level 2 `entry`.
    pub(crate) fn new(entry: &'static AtomicU64, address: usize) -> Self {
        let window = Self {
            entry,
            address,
            attributes: mmu::attributes::<L>(Use::Data),
            level: PhantomData,
        };
        window.close();
        window
    }

    /// Maps the 2 MiB block of physical memory that contains `block` until the window is closed, and
    /// returns the window's virtual address. Must be called on the core that uses this map.
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

    /// Virtual address of the window.
    #[must_use]
    pub const fn address(&self) -> usize {
        self.address
    }

    /// Unmaps the memory behind the window and invalidates the TLB.
    #[inline]
    pub fn close(&self) {
        self.entry.store(CLOSED, Ordering::Release);
        L::invalidate_tlb();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::supply;
    use crate::{Error, KernelMap};
    use core_memory::FramePool;
    use hw_arch::El2;

    const NEAR: usize = 0x4020_0000;
    /// The end of its gibibyte.
    const END: usize = 0x8000_0000;

    fn map() -> (&'static FramePool<4>, KernelMap<El2>) {
        let frames = supply();
        (frames, KernelMap::new(frames))
    }

    #[test]
    fn what_is_behind_it_changes_by_one_entry() {
        let (frames, mut map) = map();
        // SAFETY: the tables are leaked, so they live as long as the window.
        let window = unsafe { map.window(NEAR) }.unwrap();
        let at = window.address();
        assert_eq!(
            (at, map.find(at)),
            (END - WINDOW_SIZE, None),
            "closed at first"
        );
        let left = frames.available();
        assert_eq!(window.open(0x6020_0000), at);
        assert_eq!(map.find(at + WINDOW_SIZE - 1), Some(Use::Data));
        assert_eq!(map.find(at - 1), None);
        let shown = window.entry.load(Ordering::Relaxed);
        assert_eq!(shown & 0x7f_ffe0_0000, 0x6020_0000);
        assert_eq!(window.open(0x6040_0000), at, "closed between");
        window.close();
        assert_eq!((map.find(at), frames.available()), (None, left));
    }

    #[test]
    fn each_has_a_place_where_nothing_else_is() {
        let (frames, mut map) = map();
        map.map(NEAR, 0x20_0000, Use::Data).unwrap();
        map.map(END - 2 * WINDOW_SIZE, 0x1000, Use::Data).unwrap();
        let left = frames.available();
        // SAFETY: the tables are leaked, and the attempt to map over a window below is refused.
        let places = [(); 2].map(|()| unsafe { map.window(NEAR) }.unwrap().address());
        assert_eq!(places, [END - WINDOW_SIZE, END - 3 * WINDOW_SIZE]);
        assert_eq!(frames.available(), left, "no table of their own");
        let refused = map.map(places[1], 0x20_0000, Use::Data);
        assert_eq!(refused, Err(Error::Live(places[1])));
    }

    #[test]
    fn a_gibibyte_may_be_full() {
        let (_, mut map) = map();
        map.map(0x4000_0000, 1 << 30, Use::Data).unwrap();
        // SAFETY: the call fails, so no window exists.
        let refused = unsafe { map.window(NEAR) }.err();
        assert_eq!(refused, Some(Error::Live(NEAR)));
        map.map(0x8000_0000, (1 << 30) - WINDOW_SIZE, Use::Data)
            .unwrap();
        // SAFETY: the tables are leaked, so they live as long as the window.
        let last = [(); 2].map(|()| unsafe { map.window(0x8000_0000) }.map(|it| it.address()));
        assert_eq!(last, [Ok(0xbfe0_0000), Err(Error::Live(0x8000_0000))]);
    }
}
