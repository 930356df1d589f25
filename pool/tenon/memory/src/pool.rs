//! Memory pool of blocks of one size.

use crate::Error;
use core::cell::{Cell, UnsafeCell};
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use tenon_thread::wait::Guarded;

/// Bytes of one block. While it is free, its first word points to the next free block.
#[repr(C, align(16))]
struct Bytes<const SIZE: usize>(UnsafeCell<[u8; SIZE]>);

/// Free blocks. Initially zero, so that a pool takes no room in the image: blocks that were never
/// allocated are counted, not linked.
struct Free<const SIZE: usize> {
    /// The block freed last.
    first: Cell<Option<NonNull<Bytes<SIZE>>>>,
    /// Number of blocks ever allocated; the others are free and not in the list.
    begun: Cell<usize>,
}

// SAFETY: the pointers lead to blocks of the static that contains this, accessible from any thread.
unsafe impl<const SIZE: usize> Send for Free<SIZE> {}

/// A pool of `COUNT` blocks of `SIZE` bytes, a multiple of 16, aligned to 16.
pub struct Pool<const SIZE: usize, const COUNT: usize> {
    free: Guarded<Free<SIZE>>,
    blocks: [Bytes<SIZE>; COUNT],
}

// SAFETY: a block is accessed by its owner, and under `free` while it has none.
unsafe impl<const SIZE: usize, const COUNT: usize> Sync for Pool<SIZE, COUNT> {}

impl<const SIZE: usize, const COUNT: usize> Pool<SIZE, COUNT> {
    /// A pool of free blocks.
    pub const fn new() -> Self {
        const {
            assert!(
                SIZE > 0 && SIZE.is_multiple_of(16),
                "the size of a block is a multiple of 16"
            )
        };
        Self {
            free: Guarded::new(Free {
                first: Cell::new(None),
                begun: Cell::new(0),
            }),
            blocks: [const { Bytes(UnsafeCell::new([0; SIZE])) }; COUNT],
        }
    }

    /// Allocates a block with unspecified contents; possible in an interrupt handler too.
    #[inline(always)]
    pub fn allocate(&'static self) -> Result<Block<SIZE, COUNT>, Error> {
        let bytes = self.free.masked(|free, _| {
            if let Some(bytes) = free.first.get() {
                // SAFETY: the block is free, so that only this code accesses it, and `free` linked
                // it.
                free.first.set(unsafe { bytes.cast().read() });
                return Some(bytes);
            }
            let bytes = self.blocks.get(free.begun.get())?;
            free.begun.set(free.begun.get() + 1);
            Some(NonNull::from(bytes))
        });
        let bytes = bytes.ok_or(Error::Exhausted)?;
        Ok(Block { bytes, pool: self })
    }

    /// Frees a block.
    #[inline(always)]
    fn free(&self, bytes: NonNull<Bytes<SIZE>>) {
        self.free.masked(|free, _| {
            // SAFETY: the block is of this pool, aligned and at least one word long, and its owner
            // has just released it.
            unsafe { bytes.cast().write(free.first.get()) };
            free.first.set(Some(bytes));
        });
    }
}

impl<const SIZE: usize, const COUNT: usize> Default for Pool<SIZE, COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

/// A block of a pool, freed when it is dropped. It can be sent to another thread.
pub struct Block<const SIZE: usize, const COUNT: usize> {
    bytes: NonNull<Bytes<SIZE>>,
    pool: &'static Pool<SIZE, COUNT>,
}

// SAFETY: only the owner of a block accesses it, from whichever thread.
unsafe impl<const SIZE: usize, const COUNT: usize> Send for Block<SIZE, COUNT> {}
// SAFETY: a shared reference to a block only reads its bytes.
unsafe impl<const SIZE: usize, const COUNT: usize> Sync for Block<SIZE, COUNT> {}

impl<const SIZE: usize, const COUNT: usize> Block<SIZE, COUNT> {
    /// Converts to an address, to be returned by [`from_raw`](Self::from_raw): for languages
    /// without ownership.
    pub fn into_raw(self) -> NonNull<[u8; SIZE]> {
        core::mem::ManuallyDrop::new(self).bytes.cast()
    }

    /// Converts back the address that [`into_raw`](Self::into_raw) returned.
    ///
    /// # Safety
    ///
    /// The address is from `into_raw` of a block of this pool, is converted back once and not used
    /// afterwards.
    pub unsafe fn from_raw(pool: &'static Pool<SIZE, COUNT>, bytes: NonNull<[u8; SIZE]>) -> Self {
        Self {
            bytes: bytes.cast(),
            pool,
        }
    }
}

impl<const SIZE: usize, const COUNT: usize> Deref for Block<SIZE, COUNT> {
    type Target = [u8; SIZE];

    fn deref(&self) -> &[u8; SIZE] {
        // SAFETY: this is the only owner; all bytes are initialised, as the pool was zeroed.
        unsafe { self.bytes.cast().as_ref() }
    }
}

impl<const SIZE: usize, const COUNT: usize> DerefMut for Block<SIZE, COUNT> {
    fn deref_mut(&mut self) -> &mut [u8; SIZE] {
        // SAFETY: this is the only owner; all bytes are initialised, as the pool was zeroed.
        unsafe { self.bytes.cast().as_mut() }
    }
}

impl<const SIZE: usize, const COUNT: usize> Drop for Block<SIZE, COUNT> {
    #[inline(always)]
    fn drop(&mut self) {
        self.pool.free(self.bytes);
    }
}

impl<const SIZE: usize, const COUNT: usize> fmt::Debug for Block<SIZE, COUNT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block of {SIZE} bytes at {:p}", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn no_block_has_two_owners_and_none_is_lost(
            steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..80),
        ) {
            let pool: &'static Pool<32, 4> = Box::leak(Box::new(Pool::new()));
            let mut held: Vec<(Block<32, 4>, u8)> = Vec::new();
            for (number, (take, which)) in steps.into_iter().enumerate() {
                if take {
                    let block = pool.allocate();
                    prop_assert_eq!(block.is_ok(), held.len() < 4);
                    held.extend(block.ok().map(|mut block| {
                        block.fill(number as u8);
                        (block, number as u8)
                    }));
                } else if !held.is_empty() {
                    held.swap_remove(which.index(held.len()));
                }
                prop_assert!(held.iter().all(|(block, mark)| block.iter().all(|byte| byte == mark)));
            }
        }
    }

    #[test]
    fn a_block_can_go_through_an_address_and_is_aligned() {
        static POOL: Pool<16, 1> = Pool::new();
        let address = POOL.allocate().unwrap().into_raw();
        assert!(address.cast::<u128>().is_aligned());
        assert_eq!(POOL.allocate().unwrap_err(), Error::Exhausted);
        // SAFETY: the address is from `into_raw` above.
        drop(unsafe { Block::from_raw(&POOL, address) });
        assert!(POOL.allocate().is_ok());
    }
}
