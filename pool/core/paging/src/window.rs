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
    /// A window at `address`, a multiple of 2 MiB where nothing is mapped; closed.
    ///
    /// # Safety
    ///
    /// The map must stay for good, and nothing may be mapped or unmapped at `address` any more.
    pub unsafe fn window(&mut self, address: usize) -> Result<Window<L>, Error> {
        if !address.is_multiple_of(WINDOW_SIZE) {
            return Err(Error::Unaligned(address));
        }
        let entry = self.tables.block(address)?;
        if entry.load(Ordering::Relaxed) != 0 {
            return Err(Error::Live(address));
        }
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

    const AT: usize = 1 << 38;

    fn map() -> (&'static FramePool<4>, KernelMap<El2>) {
        let frames: &'static FramePool<4> = Box::leak(Box::new(FramePool::new()));
        (frames, KernelMap::new(frames).unwrap())
    }

    #[test]
    fn what_is_behind_it_changes_by_one_entry() {
        let (frames, mut map) = map();
        // SAFETY: its tables stay.
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
    }

    #[test]
    fn nothing_is_mapped_where_one_is() {
        let (_, mut map) = map();
        // SAFETY: nothing is mapped there.
        let _window = unsafe { map.window(AT) }.unwrap();
        let refused = map.map(AT, 0x20_0000, Use::Data);
        assert_eq!(refused, Err(Error::Live(AT)));
        // SAFETY: nothing is made.
        let again = unsafe { map.window(AT) }.err();
        assert_eq!(again, Some(Error::Live(AT)));
    }

    #[test]
    fn it_begins_at_a_block() {
        let (_, mut map) = map();
        // SAFETY: nothing is made.
        let refused = unsafe { map.window(AT + 0x1000) }.err();
        assert_eq!(refused, Some(Error::Unaligned(AT + 0x1000)));
    }
}
