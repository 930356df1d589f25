//! Memory of guests a word at a time, for who reads and writes several before an interrupt comes.

use crate::{Transfer, left_in_block, see};
use core::cell::Cell;
use core_memory::PhysicalRange;

/// Words and bytes copied in a step: some four instructions for each.
const WORDS: u64 = 8;
const BYTES: u64 = 16;

/// A number that one access reads or writes.
pub trait Word: Copy {}

impl Word for u8 {}
impl Word for u16 {}
impl Word for u32 {}
impl Word for u64 {}

/// A core's windows that stay open from access to access, as long as these are in the same blocks; they
/// close with this.
pub struct View<'a> {
    transfer: &'a Transfer,
    source: Cell<Option<u64>>,
    target: Cell<Option<u64>>,
}

impl<'a> View<'a> {
    /// Through the windows of a core, which nobody else uses before this ends.
    #[must_use]
    pub const fn new(transfer: &'a Transfer) -> Self {
        Self {
            transfer,
            source: Cell::new(None),
            target: Cell::new(None),
        }
    }

    /// Where a physical address that is read is seen.
    #[inline]
    fn from(&self, address: u64) -> usize {
        let mut shown = self.source.get();
        let seen = see(&self.transfer.source, &mut shown, address);
        self.source.set(shown);
        seen
    }

    /// Where one that is written is.
    #[inline]
    fn to(&self, address: u64) -> usize {
        let mut shown = self.target.get();
        let seen = see(&self.transfer.target, &mut shown, address);
        self.target.set(shown);
        seen
    }

    /// Reads a word at a multiple of its size, in one piece. Others may write it at the same time.
    ///
    /// # Safety
    ///
    /// Called on the core of these windows, for RAM.
    #[inline]
    pub unsafe fn read<W: Word>(&self, at: u64) -> W {
        let from = self.from(at) as *const W;
        // SAFETY: its block is shown and it is aligned, so that it lies within; a volatile access to
        // memory that a guest may change, of which each value is a number.
        unsafe { from.read_volatile() }
    }

    /// Writes a word at a multiple of its size, in one piece.
    ///
    /// # Safety
    ///
    /// Called on the core of these windows, for RAM that nobody in Rust refers to.
    #[inline]
    pub unsafe fn write<W: Word>(&self, at: u64, value: W) {
        let to = self.to(at) as *mut W;
        // SAFETY: as in `read`, of memory that nobody in Rust refers to.
        unsafe { to.write_volatile(value) };
    }

    /// Copies some of so many bytes, at least one, wherever they are; how many. Others may write both
    /// at the same time.
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
                // SAFETY: the blocks are shown and both are aligned; volatile accesses to what others
                // may change.
                unsafe {
                    let value = (source as *const u64).add(word).read_volatile();
                    (target as *mut u64).add(word).write_volatile(value);
                }
            }
            return 8 * words as u64;
        }
        let bytes = room.min(BYTES);
        for byte in 0..bytes as usize {
            // SAFETY: as above.
            unsafe {
                let value = (source as *const u8).add(byte).read_volatile();
                (target as *mut u8).add(byte).write_volatile(value);
            }
        }
        bytes
    }

    /// [Copies](Transfer::copy) a range to the point of coherency, until all is done or an interrupt
    /// waits; how far it came.
    ///
    /// # Safety
    ///
    /// Those of [`Transfer::copy`].
    pub unsafe fn copy(&self, source: PhysicalRange, target: u64) -> u64 {
        // Its end closes both.
        self.source.set(None);
        self.target.set(None);
        // SAFETY: the caller's promise.
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
