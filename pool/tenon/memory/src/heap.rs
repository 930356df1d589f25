//! Heap with allocation in constant time.

use crate::Error;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use rlsf::Tlsf;
use tenon_thread::wait::Guarded;

/// Number of size classes: one for each power of two from 32 bytes on, each divided into this many;
/// less than a sixteenth is lost to rounding.
const POWERS: usize = 24;
const CLASSES: usize = 16;

type Blocks = Tlsf<'static, u32, u16, POWERS, CLASSES>;

/// Free memory. Initially zero, so that a heap takes no room in the image.
struct Free {
    blocks: UnsafeCell<Blocks>,
    /// Whether the heap's memory was added.
    begun: Cell<bool>,
}

/// A heap of `SIZE` bytes with blocks of any size.
///
/// It can be the global allocator of an image, for collections of the `alloc` crate:
///
/// ```no_run
/// use tenon_memory::Heap;
///
/// #[global_allocator]
/// static HEAP: Heap<65536> = Heap::new();
/// ```
///
/// When memory is exhausted, a collection that grows implicitly panics, which ends the image;
/// `try_reserve` returns an error.
#[repr(C, align(64))]
pub struct Heap<const SIZE: usize> {
    memory: UnsafeCell<[MaybeUninit<u8>; SIZE]>,
    free: Guarded<Free>,
}

// SAFETY: the memory is accessed under `free` while it is free, and by the owner of a block
// afterwards.
unsafe impl<const SIZE: usize> Sync for Heap<SIZE> {}

impl<const SIZE: usize> Heap<SIZE> {
    /// A heap without allocations.
    pub const fn new() -> Self {
        const { assert!(SIZE >= 64, "a heap has 64 bytes at least") };
        Self {
            memory: UnsafeCell::new([MaybeUninit::uninit(); SIZE]),
            free: Guarded::new(Free {
                blocks: UnsafeCell::new(Tlsf::new()),
                begun: Cell::new(false),
            }),
        }
    }

    /// Allocates a block; possible in an interrupt handler too.
    pub fn allocate(&'static self, layout: Layout) -> Result<NonNull<u8>, Error> {
        // SAFETY: the memory of a static lives as long as the program.
        unsafe { self.take(layout) }.ok_or(Error::Exhausted)
    }

    /// Frees a block.
    ///
    /// # Safety
    ///
    /// The block is from [`allocate`](Self::allocate) of this heap with a layout of this alignment,
    /// is freed once and not used afterwards.
    pub unsafe fn free(&self, piece: NonNull<u8>, align: usize) {
        self.free.masked(|free, _| {
            // SAFETY: the guard makes the reference exclusive; the block is from this heap with
            // this alignment, as the caller ensures.
            unsafe { (*free.blocks.get()).deallocate(piece, align) }
        });
    }

    /// # Safety
    ///
    /// The heap lives as long as the blocks.
    unsafe fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.free.masked(|free, _| {
            // SAFETY: the guard makes the reference exclusive, and the memory too, which is not
            // accessed before it is in `blocks`.
            let blocks = unsafe { &mut *free.blocks.get() };
            if !free.begun.replace(true) {
                // SAFETY: the heap, and with it the memory, lives as long as the blocks, as the
                // caller ensures.
                blocks.insert_free_block(unsafe { &mut *self.memory.get() });
            }
            blocks.allocate(layout)
        })
    }
}

impl<const SIZE: usize> Default for Heap<SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: a block has one owner until it is freed, and has the requested size and alignment.
unsafe impl<const SIZE: usize> GlobalAlloc for Heap<SIZE> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: a global allocator is a static.
        let piece = unsafe { self.take(layout) };
        piece.map_or(core::ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if let Some(piece) = NonNull::new(piece) {
            // SAFETY: the block was allocated by this allocator with `layout`, as `GlobalAlloc`
            // requires of the caller.
            unsafe { self.free(piece, layout.align()) };
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::vec::Vec;

    fn layout(size: usize, align: u32) -> Layout {
        Layout::from_size_align(size, 1 << align).unwrap()
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let heap: &'static Heap<1024> = Box::leak(Box::new(Heap::new()));
        assert_eq!(heap.allocate(layout(1024, 0)), Err(Error::Exhausted));
        let piece = heap.allocate(layout(600, 0)).unwrap();
        assert_eq!(heap.allocate(layout(600, 0)), Err(Error::Exhausted));
        // SAFETY: the block is from `allocate` above, freed once.
        unsafe { heap.free(piece, 1) };
        assert!(heap.allocate(layout(600, 0)).is_ok());
    }

    proptest! {
        #[test]
        fn pieces_are_aligned_and_disjoint(
            steps in prop::collection::vec(
                (any::<bool>(), 1..300usize, 0..7u32, any::<prop::sample::Index>()), 0..80),
        ) {
            let heap: &'static Heap<4096> = Box::leak(Box::new(Heap::new()));
            let mut held: Vec<(NonNull<u8>, Layout, u8)> = Vec::new();
            for (number, (take, size, align, which)) in steps.into_iter().enumerate() {
                if take {
                    let layout = layout(size, align);
                    if let Ok(piece) = heap.allocate(layout) {
                        prop_assert_eq!(piece.as_ptr() as usize % layout.align(), 0);
                        // SAFETY: the block has one owner, this test.
                        unsafe { piece.write_bytes(number as u8, size) };
                        held.push((piece, layout, number as u8));
                    }
                } else if !held.is_empty() {
                    let (piece, layout, _) = held.swap_remove(which.index(held.len()));
                    // SAFETY: each block is freed once.
                    unsafe { heap.free(piece, layout.align()) };
                }
                for (piece, layout, mark) in &held {
                    // SAFETY: the block is not freed yet.
                    let bytes = unsafe { core::slice::from_raw_parts(piece.as_ptr(), layout.size()) };
                    prop_assert!(bytes.iter().all(|byte| byte == mark));
                }
            }
            for (piece, layout, _) in held {
                // SAFETY: each block is freed once.
                unsafe { heap.free(piece, layout.align()) };
            }
            prop_assert!(heap.allocate(layout(3500, 0)).is_ok(), "all of it came together again");
        }
    }
}
