//! The page that a core's VM and Mortise share.
//!
//! Both may write all of it at any time: each access is atomic, every value is possible, and none
//! is believed twice.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use mortise_vcpu::FloatingPoint;

/// Whose turn it is.
mod turn {
    pub(super) const RUN: u32 = 1;
    pub(super) const EVENT: u32 = 2;
}

/// Why a context came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Reason {
    /// It made an exception.
    Exception = 1,
    /// Its VM stopped it.
    Stopped = 2,
    /// Its VM wants the core, or is gone.
    Reclaimed = 3,
    /// It is none.
    Refused = 4,
    /// An interrupt came to it that Mortise cannot mask.
    Interrupted = 5,
}

/// Bits of `flags`.
pub(crate) mod flags {
    /// Floating point is to be loaded and saved, too.
    pub(crate) const FLOATING_POINT: u32 = 1;
    /// The context is at EL1.
    pub(crate) const KERNEL: u32 = 1 << 1;
}

/// A cell (docs/formats.md).
#[repr(C, align(4096))]
pub(crate) struct Cell {
    turn: AtomicU32,
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
    /// Whether it is the core's turn.
    pub(crate) fn is_ready(&self) -> bool {
        self.turn.load(Ordering::Acquire) == turn::RUN
    }

    /// Makes it the other's turn; whether that one sleeps and wants to be told.
    pub(crate) fn hand_over(&self, reason: Reason) -> bool {
        self.reason.store(reason as u32, Ordering::Relaxed);
        let events = self.events.load(Ordering::Relaxed).wrapping_add(1);
        self.events.store(events, Ordering::Relaxed);
        self.turn.store(turn::EVENT, Ordering::Release);
        // Who is about to sleep says so, and looks at the turn again.
        fence(Ordering::SeqCst);
        self.sleeper.load(Ordering::Relaxed) != 0
    }

    /// Counts a wait that was served.
    pub(crate) fn count_wait(&self) {
        let waits = self.waits.load(Ordering::Relaxed).wrapping_add(1);
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Nobody's turn, and nothing left of what was there.
    pub(crate) fn clear(&self) {
        for word in &self.x {
            word.store(0, Ordering::Relaxed);
        }
        for counter in [&self.events, &self.waits, &self.esr, &self.far] {
            counter.store(0, Ordering::Relaxed);
        }
        self.sleeper.store(0, Ordering::Relaxed);
        self.reason.store(0, Ordering::Relaxed);
        self.turn.store(0, Ordering::Release);
    }

    /// The general registers as they stand there.
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
            (offset_of!(Cell, turn), 0),
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
