//! A static pool of page frames.

use crate::PAGE_SIZE;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A page of memory, aligned to its size.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct Frame {
    /// Its contents.
    pub bytes: [u8; PAGE_SIZE as usize],
}

/// The memory of `N` frames. A `static` of it is zeroed memory and takes no bytes of the image
/// file.
#[derive(Debug)]
pub struct FrameRoom<const N: usize>([UnsafeCell<Frame>; N]);

// SAFETY: only a pool accesses the frames, each on the core that changed its flag in `taken` from
// false to true, one core at a time. Acquire and release of the flag order the accesses of one
// owner before those of the next.
unsafe impl<const N: usize> Sync for FrameRoom<N> {}

impl<const N: usize> FrameRoom<N> {
    /// Zeroed frames.
    pub const fn new() -> Self {
        Self(
            [const {
                UnsafeCell::new(Frame {
                    bytes: [0; PAGE_SIZE as usize],
                })
            }; N],
        )
    }
}

impl<const N: usize> Default for FrameRoom<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> AsRef<Self> for FrameRoom<N> {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// `N` frames that are part of the image, each either free or owned by its allocator.
///
/// The search for a free frame examines each at most once. It is meant for initialisation, not for
/// real-time paths. Where a page counts, the frames are separate ([`Self::over`]): flags in front
/// of them would take one page more.
#[derive(Debug)]
pub struct FramePool<const N: usize, R = FrameRoom<N>> {
    taken: [AtomicBool; N],
    owned: AtomicUsize,
    room: R,
}

impl<const N: usize> FramePool<N> {
    /// A pool that contains its frames, all free.
    pub const fn new() -> Self {
        Self::of(FrameRoom::new())
    }
}

impl<const N: usize> FramePool<N, &'static FrameRoom<N>> {
    /// A pool of the frames of `room`, all free.
    ///
    /// # Safety
    ///
    /// No other pool uses this room.
    pub const unsafe fn over(room: &'static FrameRoom<N>) -> Self {
        Self::of(room)
    }
}

impl<const N: usize, R> FramePool<N, R> {
    const fn of(room: R) -> Self {
        Self {
            taken: [const { AtomicBool::new(false) }; N],
            owned: AtomicUsize::new(0),
            room,
        }
    }
}

impl<const N: usize, R: AsRef<FrameRoom<N>>> FramePool<N, R> {
    /// Allocates a zeroed frame, which the caller owns until it frees it; none if no frame is free.
    #[expect(
        clippy::mut_from_ref,
        reason = "the frame's flag makes the reference exclusive"
    )]
    pub fn allocate(&'static self) -> Option<&'static mut Frame> {
        let (_, cell) = self
            .taken
            .iter()
            .zip(&self.room.as_ref().0)
            .find(|(taken, _)| {
                !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire)
            })?;
        self.owned.fetch_add(1, Ordering::Relaxed);
        // SAFETY: this call changed the flag from false to true, so no other reference to this
        // frame exists until `free` receives the one made here.
        let frame = unsafe { &mut *cell.get() };
        Some(frame)
    }

    /// Frees a frame and clears it. Returns whether it belongs to this pool. A frame of another
    /// pool is lost to that pool and does not become part of this one.
    pub fn free(&'static self, frame: &'static mut Frame) -> bool {
        let address: *const Frame = frame;
        let owner = self.taken.iter().zip(&self.room.as_ref().0);
        for (taken, cell) in owner {
            if core::ptr::eq(cell.get(), address) {
                frame.bytes.fill(0);
                self.owned.fetch_sub(1, Ordering::Relaxed);
                taken.store(false, Ordering::Release);
                return true;
            }
        }
        false
    }

    /// The number of free frames.
    pub fn available(&self) -> usize {
        N.saturating_sub(self.owned.load(Ordering::Relaxed))
    }
}

impl<const N: usize> Default for FramePool<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pool<const N: usize>() -> &'static FramePool<N> {
        Box::leak(Box::default())
    }

    #[test]
    fn frames_are_page_aligned_and_zero_each_time() {
        let pool = pool::<1>();
        let frame = pool.allocate().unwrap();
        assert!((&raw const *frame).addr().is_multiple_of(4096));
        frame.bytes.fill(0xff);
        assert!(pool.free(frame));
        assert!(pool.allocate().unwrap().bytes.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_room_of_its_own_is_all_that_is_handed_out() {
        let room: &'static FrameRoom<2> = Box::leak(Box::default());
        // SAFETY: no other pool uses this room.
        let pool = Box::leak(Box::new(unsafe { FramePool::over(room) }));
        assert!(size_of_val(pool) < 4096 && size_of_val(room) == 2 * 4096);
        let (one, other) = (pool.allocate().unwrap(), pool.allocate().unwrap());
        let within = core::ptr::from_ref(room).addr()..=core::ptr::from_ref(room).addr() + 4096;
        assert!(within.contains(&(&raw const *one).addr()));
        assert!(within.contains(&(&raw const *other).addr()));
        assert!(pool.allocate().is_none());
        other.bytes.fill(1);
        assert!(pool.free(other) && pool.available() == 1);
        assert!(pool.allocate().unwrap().bytes.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_foreign_frame_is_refused() {
        let (one, other) = (pool::<1>(), pool::<1>());
        assert!(!one.free(other.allocate().unwrap()));
        assert_eq!((one.available(), other.available()), (1, 0));
    }

    #[test]
    fn cores_never_share_a_frame() {
        let pool = pool::<8>();
        let hold = |mark: u8| {
            for _ in 0..1000 {
                if let Some(frame) = pool.allocate() {
                    frame.bytes.fill(mark);
                    assert!(frame.bytes.iter().all(|&byte| byte == mark));
                    assert!(pool.free(frame));
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| hold(1));
            scope.spawn(|| hold(2));
        });
        assert_eq!(pool.available(), 8);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_frame_is_handed_out_once(steps in prop::collection::vec(any::<bool>(), 1..60)) {
            let pool = pool::<4>();
            let mut held: Vec<&'static mut Frame> = Vec::new();
            for take in steps {
                if take {
                    let frame = pool.allocate();
                    prop_assert_eq!(frame.is_some(), held.len() < 4);
                    held.extend(frame);
                } else if let Some(frame) = held.pop() {
                    prop_assert!(pool.free(frame));
                }
                prop_assert_eq!(pool.available(), 4 - held.len());
            }
        }
    }
}
