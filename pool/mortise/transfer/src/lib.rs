//! Memory of guests, reached from a core's windows: copied, scrubbed and read in short steps.
//!
//! # Purpose
//!
//! A core's map holds nothing of a guest's memory. What a guest has Mortise fill, scrub or read is
//! seen through two [`Window`]s of the core that works, for as long as it works; what is a word here and
//! a word there, through a [`View`]. A third shows the root of a stage 2 that it does not map.
//!
//! # Guarantees
//!
//! Mortise runs with interrupts masked, so nothing here takes long: after each step of about a
//! hundred instructions it looks whether an interrupt waits ([`is_interrupt_pending`]), for Mortise or
//! for a guest, and if so
//! returns with what was done so far. At least one step is done, so that whoever comes back each
//! time gets to the end. What is written goes to the point of coherency, as its guest may run with
//! its caches off. The windows are closed behind each call. No lock, no allocation.
//!
//! # Example
//!
//! ```
//! # use core_memory::{FramePool, PhysicalRange};
//! # use core_paging::KernelMap;
//! # use mortise_transfer::Transfer;
//! # static FRAMES: FramePool<8> = FramePool::new();
//! # let map = Box::leak(Box::new(KernelMap::new(&FRAMES)));
//! // SAFETY: the map is this core's for good, and has nothing else there.
//! let transfer = unsafe { Transfer::new(map, 0x4000_0000) }?;
//! # Ok::<(), core_paging::Error>(())
//! ```
#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "memory is reached by physical address, which only its owner may say"
)]

mod view;

pub use view::{View, Word};

use core_memory::PhysicalRange;
use core_paging::{Error, KernelMap, WINDOW_SIZE, Window, Words};
use hw_arch::{El2, cache, cpu::is_interrupt_pending};

/// Bytes copied in a step: 12 instructions for 64.
const COPY_STEP: u64 = 512;
/// Bytes that the first step copies less.
const FIRST_LESS: u64 = 256;
/// Bytes scrubbed in a step: 5 instructions for 64.
const ZERO_STEP: u64 = 1024;

/// Bytes of which the caches are emptied in a step: 4 instructions for each line of 64.
const CLEAN_STEP: u64 = 1024;

/// The windows of one core.
pub struct Transfer {
    source: Window<El2>,
    target: Window<El2>,
    table: Window<El2>,
}

impl Transfer {
    /// Windows in the map of a core, in the gibibyte of `near`.
    ///
    /// # Errors
    ///
    /// If there is no room for them.
    ///
    /// # Safety
    ///
    /// The map is a core's and stays for good; nothing else will be mapped in that gibibyte.
    pub unsafe fn new(map: &mut KernelMap<El2>, near: usize) -> Result<Self, Error> {
        // SAFETY: the caller's promise is what a window asks for.
        unsafe {
            Ok(Self {
                source: map.window(near)?,
                target: map.window(near)?,
                table: map.window(near)?,
            })
        }
    }

    /// Copies the bytes of `source` from offset `done` on to physical address `target` and what
    /// follows, until all is done or an interrupt waits; how far it came. Addresses, size and offset
    /// are multiples of 64.
    ///
    /// # Safety
    ///
    /// Called on the core of this map. Both ranges are RAM, which nobody in Rust refers to; the
    /// target may be written at this moment.
    pub unsafe fn copy(&self, source: PhysicalRange, target: u64, done: u64) -> u64 {
        let mut at = done;
        let mut open = (None, None);
        while at < source.size() {
            let (from, to) = (source.start() + at, target + at);
            // The first one opens the windows.
            let most = match open {
                (None, None) => COPY_STEP - FIRST_LESS,
                _ => COPY_STEP,
            };
            let step = most
                .min(source.size() - at)
                .min(left_in_block(from))
                .min(left_in_block(to));
            let from = see(&self.source, &mut open.0, from);
            let to = see(&self.target, &mut open.1, to);
            // SAFETY: both lie in blocks that the windows show; that they may be accessed is the
            // caller's promise.
            unsafe { cache::copy_to_memory(from, to, step as usize) };
            at += step;
            if is_interrupt_pending() {
                break;
            }
        }
        self.source.close();
        self.target.close();
        at
    }

    /// Fills the memory of `range` with zeros from offset `done` on, until all is done or an interrupt
    /// waits; how far it came. Address, size and offset are multiples of 64.
    ///
    /// # Safety
    ///
    /// As for [`copy`](Self::copy), of the range.
    pub unsafe fn zero(&self, range: PhysicalRange, done: u64) -> u64 {
        let mut at = done;
        let mut open = None;
        while at < range.size() {
            let to = range.start() + at;
            let step = ZERO_STEP.min(range.size() - at).min(left_in_block(to));
            let to = see(&self.target, &mut open, to);
            // SAFETY: it lies in the block that the window shows; that it may be written is the
            // caller's promise.
            unsafe { cache::zero_to_memory(to, step as usize) };
            at += step;
            if is_interrupt_pending() {
                break;
            }
        }
        self.target.close();
        at
    }

    /// Empties the caches of `range` from offset `done` on, until all is done or an interrupt waits;
    /// how far it came. Address, size and offset are multiples of 64.
    ///
    /// # Safety
    ///
    /// As for [`copy`](Self::copy), of the range; what it holds stays.
    pub unsafe fn clean(&self, range: PhysicalRange, done: u64) -> u64 {
        let mut at = done;
        let mut open = None;
        while at < range.size() {
            let from = range.start() + at;
            let step = CLEAN_STEP.min(range.size() - at).min(left_in_block(from));
            let from = see(&self.target, &mut open, from);
            // SAFETY: it lies in the block that the window shows; contents stay as they are.
            unsafe { cache::clean_and_invalidate(from, step as usize) };
            at += step;
            if is_interrupt_pending() {
                break;
            }
        }
        self.target.close();
        at
    }

    /// Shows the table at physical address `table` for as long as `change` takes.
    ///
    /// # Safety
    ///
    /// Called on the core of this map, for a frame that is a table for good.
    pub unsafe fn at_table(&self, table: usize, change: impl FnOnce(&Words)) {
        let words = see(&self.table, &mut None, table as u64) as *const Words;
        // SAFETY: the window shows all of it; whoever refers to it does so as atomic words.
        change(unsafe { &*words });
        self.table.close();
    }

    /// Reads words from physical address `start` on, a multiple of 8, that lie in one page. Others may
    /// write them at the same time: each is read once.
    ///
    /// # Safety
    ///
    /// Called on the core of this map, for RAM.
    pub unsafe fn read(&self, start: u64, words: &mut [u64]) {
        let from = see(&self.source, &mut None, start) as *const u64;
        for (index, word) in words.iter_mut().enumerate() {
            // SAFETY: the page is shown; a volatile access to a word that a guest may change.
            *word = unsafe { from.add(index).read_volatile() };
        }
        self.source.close();
    }

    /// Writes words from physical address `start` on, a multiple of 8, that lie in one page.
    ///
    /// # Safety
    ///
    /// Called on the core of this map, for RAM that nobody in Rust refers to.
    pub unsafe fn write(&self, start: u64, words: &[u64]) {
        let to = see(&self.target, &mut None, start) as *mut u64;
        for (index, word) in words.iter().enumerate() {
            // SAFETY: the page is shown; a volatile access to memory of a guest.
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

/// Where a physical address is seen, in a window that `shown` says the block of.
fn see(window: &Window<El2>, shown: &mut Option<u64>, address: u64) -> usize {
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
        let seen = see(&transfer.target, &mut shown, 0x6034_5678);
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
