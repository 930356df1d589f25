//! A view of memory that a kernel has for a moment.

use crate::{Error, KernelMap, Level, Use};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a window shows: one entry of level 2.
pub const WINDOW_SIZE: usize = 0x20_0000;

/// What stands in the entry of a window that is closed: not valid, and not zero, so that nothing is
/// mapped there.
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
    /// A window in the gibibyte of `near`, at its end where nothing is mapped; closed.
    ///
    /// Where something of that gibibyte is mapped a window takes no table.
    ///
    /// # Errors
    ///
    /// If all of it is mapped, or nothing and the supply has no frame left.
    ///
    /// # Safety
    ///
    /// The map must stay for good, and nothing may be mapped in that gibibyte any more.
    pub unsafe fn window(&mut self, near: usize) -> Result<Window<L>, Error> {
        let (entry, address) = self.tables.empty_block(near)?;
        let window = Window {
            entry,
            address,
            attributes: L::attributes(Use::Data),
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

    const NEAR: usize = 0x4020_0000;
    /// The end of its gibibyte.
    const END: usize = 0x8000_0000;

    fn map() -> (&'static FramePool<4>, KernelMap<El2>) {
        let frames: &'static FramePool<4> = Box::leak(Box::new(FramePool::new()));
        (frames, KernelMap::new(frames))
    }

    #[test]
    fn what_is_behind_it_changes_by_one_entry() {
        let (frames, mut map) = map();
        // SAFETY: its tables stay.
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
        // SAFETY: its tables stay, and what is mapped below is refused.
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
        // SAFETY: nothing is made.
        let refused = unsafe { map.window(NEAR) }.err();
        assert_eq!(refused, Some(Error::Live(NEAR)));
        map.map(0x8000_0000, (1 << 30) - WINDOW_SIZE, Use::Data)
            .unwrap();
        // SAFETY: its tables stay.
        let last = [(); 2].map(|()| unsafe { map.window(0x8000_0000) }.map(|it| it.address()));
        assert_eq!(last, [Ok(0xbfe0_0000), Err(Error::Live(0x8000_0000))]);
    }
}
