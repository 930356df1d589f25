//! Supply of frames for tables.

use core_memory::{Frame, FramePool, FrameRoom};

/// A supply of zeroed frames that are mapped one to one.
pub trait Frames: Sync {
    /// Takes a zeroed frame that nobody else uses, if one is left.
    #[expect(
        clippy::mut_from_ref,
        reason = "each frame is given to one taker at a time"
    )]
    fn take(&'static self) -> Option<&'static mut Frame>;

    /// Number of frames that are left.
    fn available(&'static self) -> usize;
}

impl<const N: usize, R: AsRef<FrameRoom<N>> + Sync> Frames for FramePool<N, R> {
    fn take(&'static self) -> Option<&'static mut Frame> {
        self.allocate()
    }

    fn available(&'static self) -> usize {
        FramePool::available(self)
    }
}
