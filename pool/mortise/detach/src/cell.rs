//! Cell: the page by which a VM and Mortise exchange a context's registers.
//!
//! Both may write all of it at any time: each access is atomic, any value is possible, and no value
//! is checked in one access and used from another.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use mortise_vcpu::FloatingPoint;

/// Ownership of the cell.
mod owner {
    pub(super) const RUN: u32 = 1;
    pub(super) const EVENT: u32 = 2;
}

/// Reason why a context returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Reason {
    /// It took an exception.
    Exception = 1,
    /// Its VM stopped it.
    Stopped = 2,
    /// Its VM reclaimed the core, or has ended.
    Reclaimed = 3,
    /// The cell holds no valid context.
    Refused = 4,
    /// An interrupt arrived that Mortise cannot mask.
    Interrupted = 5,
}

/// Bits of `flags`.
pub(crate) mod flags {
    /// Floating-point registers are loaded and saved too.
    pub(crate) const FLOATING_POINT: u32 = 1;
    /// The context runs at EL1.
    pub(crate) const KERNEL: u32 = 1 << 1;
}

/// A cell (docs/formats.md).
#[repr(C, align(4096))]
pub(crate) struct Cell {
    owner: AtomicU32,
    reason: AtomicU32,
    sleeper: AtomicU32,
    pub flags: AtomicU32,
    pub esr: AtomicU64,
    pub far: AtomicU64,
    events: AtomicU64,
    waits: AtomicU64,
    _reserved: [AtomicU64; 2],
    pub x: [AtomicU64; 31],
    pub sp: AtomicU64,
    pub pc: AtomicU64,
    pub pstate: AtomicU64,
    /// TPIDR_EL0, TPIDRRO_EL0.
    pub threads: [AtomicU64; 2],
    /// As listed in docs/formats.md.
    pub control: [AtomicU64; 8],
    pub keys: [AtomicU64; 10],
    pub floating_point: FloatingPoint,
    /// SP_EL0, TPIDR_EL1: of a context at EL1.
    pub kernel: [AtomicU64; 2],
}

impl Cell {
    /// Whether the core owns the cell.
    pub(crate) fn is_ready(&self) -> bool {
        self.owner.load(Ordering::Acquire) == owner::RUN
    }

    /// Hands the cell to the VM. Returns whether the VM sleeps and must be interrupted.
    pub(crate) fn hand_over(&self, reason: Reason) -> bool {
        self.reason.store(reason as u32, Ordering::Relaxed);
        let events = self.events.load(Ordering::Relaxed).wrapping_add(1);
        self.events.store(events, Ordering::Relaxed);
        self.owner.store(owner::EVENT, Ordering::Release);
        // A VM that is about to sleep sets its flag first, then reads the owner again.
        fence(Ordering::SeqCst);
        self.sleeper.load(Ordering::Relaxed) != 0
    }

    /// Counts a completed wait.
    pub(crate) fn count_wait(&self) {
        let waits = self.waits.load(Ordering::Relaxed).wrapping_add(1);
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Clears the cell, which then has no owner.
    pub(crate) fn clear(&self) {
        for word in &self.x {
            word.store(0, Ordering::Relaxed);
        }
        for counter in [&self.events, &self.waits, &self.esr, &self.far] {
            counter.store(0, Ordering::Relaxed);
        }
        self.sleeper.store(0, Ordering::Relaxed);
        self.reason.store(0, Ordering::Relaxed);
        self.owner.store(0, Ordering::Release);
    }

    /// The general registers in the cell.
    pub(crate) fn registers(&self) -> [u64; 31] {
        let mut registers = [0; 31];
        for (value, word) in registers.iter_mut().zip(&self.x) {
            *value = word.load(Ordering::Relaxed);
        }
        registers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn it_is_laid_out_as_documented() {
        assert_eq!(size_of::<Cell>(), 4096);
        for (offset, documented) in [
            (offset_of!(Cell, owner), 0),
            (offset_of!(Cell, reason), 4),
            (offset_of!(Cell, sleeper), 8),
            (offset_of!(Cell, flags), 0xc),
            (offset_of!(Cell, esr), 0x10),
            (offset_of!(Cell, events), 0x20),
            (offset_of!(Cell, x), 0x40),
            (offset_of!(Cell, sp), 0x138),
            (offset_of!(Cell, threads), 0x150),
            (offset_of!(Cell, control), 0x160),
            (offset_of!(Cell, keys), 0x1a0),
            (offset_of!(Cell, floating_point), 0x1f0),
            (offset_of!(Cell, kernel), 0x400),
        ] {
            assert_eq!(offset, documented);
        }
    }
}
