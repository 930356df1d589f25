//! Word accesses to guest memory, for operations that access several words between two exits.

use crate::{Transfer, left_in_block, map_block};
use core::cell::Cell;
use core_memory::PhysicalRange;

/// Words and bytes copied per step: about four instructions for each.
const WORDS: u64 = 8;
const BYTES: u64 = 16;

/// An integer that one access reads or writes.
pub trait Word: Copy {}

impl Word for u8 {}
impl Word for u16 {}
impl Word for u32 {}
impl Word for u64 {}

/// The windows of a core, kept open between accesses as long as these lie in the same blocks. They
/// are closed on drop.
pub struct View<'a> {
    transfer: &'a Transfer,
    source: Cell<Option<u64>>,
    target: Cell<Option<u64>>,
}

impl<'a> View<'a> {
    /// Uses the windows of a core, exclusively until it is dropped.
    #[must_use]
    pub const fn new(transfer: &'a Transfer) -> Self {
        Self {
            transfer,
            source: Cell::new(None),
            target: Cell::new(None),
        }
    }

    /// Virtual address of a physical address to read.
    #[inline]
    fn from(&self, address: u64) -> usize {
        let mut shown = self.source.get();
        let seen = map_block(&self.transfer.source, &mut shown, address);
        self.source.set(shown);
        seen
    }

    /// Virtual address of a physical address to write.
    #[inline]
    fn to(&self, address: u64) -> usize {
        let mut shown = self.target.get();
        let seen = map_block(&self.transfer.target, &mut shown, address);
        self.target.set(shown);
        seen
    }

    /// Reads a word at a multiple of its size, in one access. It may be written concurrently.
    ///
    /// # Safety
    ///
    /// To be called on the core of these windows, for RAM.
    #[inline]
    pub unsafe fn read<W: Word>(&self, at: u64) -> W {
        let from = self.from(at) as *const W;
        // SAFETY: the window maps its block, and it is aligned, so that it lies within. The access
        // is volatile, as a guest may change it, and each value is a valid integer.
        unsafe { from.read_volatile() }
    }

    /// Writes a word at a multiple of its size, in one access.
    ///
    /// # Safety
    ///
    /// To be called on the core of these windows, for RAM to which no Rust reference exists.
    #[inline]
    pub unsafe fn write<W: Word>(&self, at: u64, value: W) {
        let to = self.to(at) as *mut W;
        // SAFETY: the window maps its block, it is aligned, and the caller states that no Rust
        // reference to it exists.
        unsafe { to.write_volatile(value) };
    }

    /// Copies some of `size` bytes, at least one, at any alignment. Returns how many. Both ranges
    /// may be written concurrently.
    ///
    /// # Safety
    ///
    /// Those of [`read`](Self::read) and [`write`](Self::write).
    pub unsafe fn copy_some(&self, from: u64, to: u64, size: u64) -> u64 {
        let room = size.min(left_in_block(from)).min(left_in_block(to));
        let (source, target) = (self.from(from), self.to(to));
        let words = (room / 8).min(WORDS) as usize;
        if (from | to).is_multiple_of(8) && words > 0 {
            for word in 0..words {
                // SAFETY: the windows map the blocks, and both are aligned. The accesses are
                // volatile, as guests may change the words.
                unsafe {
                    let value = (source as *const u64).add(word).read_volatile();
                    (target as *mut u64).add(word).write_volatile(value);
                }
            }
            return 8 * words as u64;
        }
        let bytes = room.min(BYTES);
        for byte in 0..bytes as usize {
            // SAFETY: the windows map the blocks, and bytes are always aligned. The accesses are
            // volatile, as guests may change the bytes.
            unsafe {
                let value = (source as *const u8).add(byte).read_volatile();
                (target as *mut u8).add(byte).write_volatile(value);
            }
        }
        bytes
    }

    /// [Copies](Transfer::copy) a range to the point of coherency, until all is copied or an
    /// interrupt is pending. Returns the new offset.
    ///
    /// # Safety
    ///
    /// Those of [`Transfer::copy`].
    pub unsafe fn copy(&self, source: PhysicalRange, target: u64) -> u64 {
        // The end of the copy closes both windows.
        self.source.set(None);
        self.target.set(None);
        // SAFETY: the caller states the conditions of `Transfer::copy`, which are the same.
        unsafe { self.transfer.copy(source, target, 0) }
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        if self.source.get().is_some() {
            self.transfer.source.close();
        }
        if self.target.get().is_some() {
            self.transfer.target.close();
        }
    }
}
