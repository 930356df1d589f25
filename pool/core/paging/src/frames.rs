//! [`Frames`]: supply of page frames for translation tables.

use core_memory::{Frame, FramePool, FrameRoom};

/// Supply of zeroed, identity-mapped page frames.
pub trait Frames: Sync {
    /// Allocates a zeroed frame, if one is left.
    #[expect(clippy::mut_from_ref, reason = "each frame has one owner at a time")]
    fn take(&'static self) -> Option<&'static mut Frame>;

    /// Number of free frames.
    fn available(&'static self) -> usize;
}

/// A supply of `N` frames for a test.
#[cfg(test)]
pub(crate) fn supply<const N: usize>() -> &'static FramePool<N> {
    Box::leak(Box::new(FramePool::new()))
}

impl<const N: usize, R: AsRef<FrameRoom<N>> + Sync> Frames for FramePool<N, R> {
    fn take(&'static self) -> Option<&'static mut Frame> {
        self.allocate()
    }

    fn available(&'static self) -> usize {
        FramePool::available(self)
    }
}
