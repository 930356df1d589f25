//! Transfer of guest memory through the windows of a core: copy, scrub and read in short steps.
//!
//! # Purpose
//!
//! The map of a core contains no guest memory. Guest memory that Mortise fills, scrubs or reads is
//! mapped by two [`Window`]s of the core, for the duration of the operation; scattered words are
//! accessed through a [`View`]. A third window maps the root of a stage 2.
//!
//! # Guarantees
//!
//! Mortise runs with interrupts masked, so that each operation is bounded: after each step of about
//! a hundred instructions it checks for a pending interrupt, of Mortise or of a guest
//! ([`is_interrupt_pending`]), and if there is one returns the progress so far. To open the windows
//! is a step: a call that then finds an interrupt does nothing, and the caller is to take it before
//! the next call. Where none is taken between calls, single lines are written ([`Transfer::zero_line`]).
//! Writes are cleaned to the point of coherency, as a guest may run with its caches off. The windows
//! are closed at the end of each call. No lock, no allocation.
//!
//! # Example
//!
//! ```
//! # use core_memory::{FramePool, PhysicalRange};
//! # use core_paging::KernelMap;
//! # use mortise_transfer::Transfer;
//! # static FRAMES: FramePool<8> = FramePool::new();
//! # let map = Box::leak(Box::new(KernelMap::new(&FRAMES)));
//! // SAFETY: the map is this core's and never freed, and has nothing else there.
//! let transfer = unsafe { Transfer::new(map, 0x4000_0000) }?;
//! # Ok::<(), core_paging::Error>(())
//! ```
#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "memory is accessed by physical address, which the caller must own"
)]

mod first_use;
mod view;

pub use first_use::FirstUse;
pub use view::{View, Word};

use core_memory::PhysicalRange;
use core_paging::{Error, KernelMap, WINDOW_SIZE, Window, Words};
use hw_arch::{El2, cache, cpu::is_interrupt_pending};

/// Bytes copied per step: 12 instructions for 64.
const COPY_STEP: u64 = 512;
/// Bytes scrubbed or cleaned per step: 5 and 4 instructions for 64.
const SWEEP_STEP: u64 = 1024;

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// The windows of one core.
pub struct Transfer {
    source: Window<El2>,
    target: Window<El2>,
    table: Window<El2>,
}

impl Transfer {
    /// Makes windows in the map of a core, in the gibibyte of `near`.
    ///
    /// # Errors
    ///
    /// The map has no room for them.
    ///
    /// # Safety
    ///
    /// The map is that of a core and is never freed; nothing else is mapped in that gibibyte.
    pub unsafe fn new(map: &mut KernelMap<El2>, near: usize) -> Result<Self, Error> {
        // SAFETY: the caller states that the map stays and that nothing else is mapped in the
        // gibibyte.
        unsafe {
            Ok(Self {
                source: map.window(near)?,
                target: map.window(near)?,
                table: map.window(near)?,
            })
        }
    }

    /// The windows in which guest memory is mapped.
    pub const fn windows(&self) -> [&Window<El2>; 2] {
        [&self.source, &self.target]
    }

    /// Copies the bytes of `source` from offset `done` on to physical address `target`, until all
    /// are copied or an interrupt is pending. Returns the new offset. Addresses, size and offset
    /// are multiples of 64.
    ///
    /// # Safety
    ///
    /// To be called on the core of this map. Both ranges are RAM to which no Rust reference exists;
    /// the target may be written.
    pub unsafe fn copy(&self, source: PhysicalRange, target: u64, done: u64) -> u64 {
        let mut at = done;
        let mut open = (None, None);
        while at < source.size() {
            let (from, to) = (source.start() + at, target + at);
            let step = COPY_STEP
                .min(source.size() - at)
                .min(left_in_block(from))
                .min(left_in_block(to));
            let first = open.0.is_none();
            let from = map_block(&self.source, &mut open.0, from);
            let to = map_block(&self.target, &mut open.1, to);
            // To open both windows is a step of its own.
            if first && is_interrupt_pending() {
                break;
            }
            // SAFETY: the windows map the blocks of both, and a step ends with its block; the
            // caller states that they are RAM without references and that the target may be
            // written.
            unsafe { cache::copy_to_poc(from, to, step as usize) };
            at += step;
            if is_interrupt_pending() {
                break;
            }
        }
        self.source.close();
        self.target.close();
        at
    }

    /// Fills `range` with zeros from offset `done` on, until all is zero or an interrupt is
    /// pending. Returns the new offset. Address, size and offset are multiples of 64.
    ///
    /// # Safety
    ///
    /// To be called on the core of this map. The range is RAM to which no Rust reference exists,
    /// and may be written.
    pub unsafe fn zero(&self, range: PhysicalRange, done: u64) -> u64 {
        // SAFETY: the caller states that the range is RAM without references and may be written,
        // and a window maps each step.
        unsafe { self.sweep(range, done, cache::zero_to_poc) }
    }

    /// Cleans and invalidates the caches of `range` from offset `done` on, until all is done or an
    /// interrupt is pending. Returns the new offset. Address, size and offset are multiples of 64.
    /// The contents are kept.
    ///
    /// # Safety
    ///
    /// To be called on the core of this map. The range is RAM.
    pub unsafe fn clean(&self, range: PhysicalRange, done: u64) -> u64 {
        // SAFETY: a window maps each step of the range, which the caller states to be RAM; its contents
        // are kept.
        unsafe { self.sweep(range, done, cache::clean_and_invalidate) }
    }

    /// Fills the line at physical address `place` with zeros, whether or not an interrupt is pending.
    ///
    /// # Safety
    ///
    /// To be called on the core of this map. The line is RAM to which no Rust reference exists, and may
    /// be written.
    pub unsafe fn zero_line(&self, place: u64) {
        // SAFETY: the caller states that the line is RAM without references and may be written.
        unsafe { self.at_line(place, cache::zero_to_poc) }
    }

    /// Cleans and invalidates the line at physical address `place`, whether or not an interrupt is
    /// pending. The contents are kept.
    ///
    /// # Safety
    ///
    /// To be called on the core of this map. The line is RAM.
    pub unsafe fn clean_line(&self, place: u64) {
        // SAFETY: `at_line` maps the line, which the caller states to be RAM; its contents are kept.
        unsafe { self.at_line(place, cache::clean_and_invalidate) }
    }

    /// Maps the line at physical address `place` for `work`, which gets its address and length.
    ///
    /// # Safety
    ///
    /// The conditions of `work`, for the line.
    unsafe fn at_line(&self, place: u64, work: unsafe fn(usize, usize)) {
        let place = map_block(&self.target, &mut None, place);
        // SAFETY: the window maps the line; the caller states the rest.
        unsafe { work(place, LINE) };
        self.target.close();
    }

    /// Maps `range` step by step from offset `done` on for `work`, which gets the address and the
    /// length, until an interrupt is pending.
    ///
    /// # Safety
    ///
    /// The conditions of `work`, for the whole range.
    #[inline(always)]
    unsafe fn sweep(&self, range: PhysicalRange, done: u64, work: unsafe fn(usize, usize)) -> u64 {
        let mut at = done;
        let mut open = None;
        while at < range.size() {
            let place = range.start() + at;
            let step = SWEEP_STEP.min(range.size() - at).min(left_in_block(place));
            let first = open.is_none();
            let place = map_block(&self.target, &mut open, place);
            // To open the window is a step of its own.
            if first && is_interrupt_pending() {
                break;
            }
            // SAFETY: the window maps the block, and a step ends with it; the caller states the rest.
            unsafe { work(place, step as usize) };
            at += step;
            if is_interrupt_pending() {
                break;
            }
        }
        self.target.close();
        at
    }

    /// Maps the translation table at physical address `table` for the duration of `change`.
    ///
    /// # Safety
    ///
    /// To be called on the core of this map. The frame at `table` is a translation table that is never
    /// freed.
    pub unsafe fn at_table(&self, table: usize, change: impl FnOnce(&Words)) {
        let words = map_block(&self.table, &mut None, table as u64) as *const Words;
        // SAFETY: the window maps the whole table, and all references to it are to atomic words.
        change(unsafe { &*words });
        self.table.close();
    }

    /// Reads words from physical address `start` on. The words may be written concurrently; each is
    /// read once.
    ///
    /// # Safety
    ///
    /// To be called on the core of this map. `start` is a multiple of 8, and the range is RAM, within
    /// one page.
    pub unsafe fn read(&self, start: u64, words: &mut [u64]) {
        let from = map_block(&self.source, &mut None, start) as *const u64;
        for (index, word) in words.iter_mut().enumerate() {
            // SAFETY: the caller states that the aligned words lie in one page, which the window maps;
            // the access is volatile, as a guest may change the word.
            *word = unsafe { from.add(index).read_volatile() };
        }
        self.source.close();
    }

    /// Writes words from physical address `start` on.
    ///
    /// # Safety
    ///
    /// To be called on the core of this map. `start` is a multiple of 8, and the range is RAM, within
    /// one page, to which no Rust reference exists.
    pub unsafe fn write(&self, start: u64, words: &[u64]) {
        let to = map_block(&self.target, &mut None, start) as *mut u64;
        for (index, word) in words.iter().enumerate() {
            // SAFETY: the caller states that the aligned words lie in one page, which the window maps;
            // the access is volatile, as a guest may access the word.
            unsafe { to.add(index).write_volatile(*word) };
        }
        self.target.close();
    }
}

/// Bytes from an address to the end of its block.
const fn left_in_block(address: u64) -> u64 {
    let block = WINDOW_SIZE as u64;
    block - address % block
}

/// Virtual address of a physical one in `window`; `shown` is the block that the window maps.
fn map_block(window: &Window<El2>, shown: &mut Option<u64>, address: u64) -> usize {
    let offset = address % WINDOW_SIZE as u64;
    let block = address - offset;
    if *shown != Some(block) {
        window.open(block as usize);
        *shown = Some(block);
    }
    window.address() + offset as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_with_their_block() {
        assert_eq!(left_in_block(0), WINDOW_SIZE as u64);
        assert_eq!(left_in_block(WINDOW_SIZE as u64 - 64), 64);
        assert_eq!(left_in_block(WINDOW_SIZE as u64), WINDOW_SIZE as u64);
    }

    #[test]
    fn a_window_shows_the_block_of_an_address() {
        let frames: &'static core_memory::FramePool<4> = Box::leak(Box::default());
        let map = Box::leak(Box::new(KernelMap::new(frames)));
        // SAFETY: the map is leaked, and empty.
        let transfer = unsafe { Transfer::new(map, 0x4000_0000) }.unwrap();
        let mut shown = None;
        let seen = map_block(&transfer.target, &mut shown, 0x6034_5678);
        assert_eq!(seen, 0x8000_0000 - 2 * WINDOW_SIZE + 0x14_5678);
        assert_eq!(shown, Some(0x6020_0000));
        assert_eq!(
            map.find(seen),
            Some(core_paging::Use::Data),
            "it is shown there"
        );
        transfer.target.close();
        assert_eq!(map.find(seen), None);
    }
}
