//! [`Set`]: sets of signals.

use core::ops::{BitAnd, BitOr, Not};

/// The highest number of a signal.
pub const SIGNALS: u8 = 64;

/// Numbers of signals.
#[expect(missing_docs, reason = "the names are those of the standard")]
pub mod number {
    pub const HUP: u8 = 1;
    pub const INT: u8 = 2;
    pub const QUIT: u8 = 3;
    pub const ILL: u8 = 4;
    pub const TRAP: u8 = 5;
    pub const ABRT: u8 = 6;
    pub const BUS: u8 = 7;
    pub const FPE: u8 = 8;
    pub const KILL: u8 = 9;
    pub const USR1: u8 = 10;
    pub const SEGV: u8 = 11;
    pub const PIPE: u8 = 13;
    pub const ALRM: u8 = 14;
    pub const TERM: u8 = 15;
    pub const CHLD: u8 = 17;
    pub const CONT: u8 = 18;
    pub const STOP: u8 = 19;
    pub const TSTP: u8 = 20;
    pub const TTIN: u8 = 21;
    pub const TTOU: u8 = 22;
    pub const URG: u8 = 23;
    pub const XCPU: u8 = 24;
    pub const XFSZ: u8 = 25;
    pub const VTALRM: u8 = 26;
    pub const PROF: u8 = 27;
    pub const WINCH: u8 = 28;
    pub const IO: u8 = 29;
    pub const SYS: u8 = 31;
    /// The first real-time signal, of which several can be pending.
    pub const REAL_TIME: u8 = 32;
}

/// A set of signals, as `sigset_t` has it: bit 0 is signal 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set(pub u64);

impl Set {
    /// No signal.
    pub const EMPTY: Self = Self(0);
    /// Signals that cannot be blocked, handled or ignored.
    pub const UNBLOCKABLE: Self = Self::of(&[number::KILL, number::STOP]);
    /// Signals that stop a process by default.
    pub const STOPPING: Self = Self::of(&[number::STOP, number::TSTP, number::TTIN, number::TTOU]);
    /// Signals of faults, which are delivered before others.
    pub const SYNCHRONOUS: Self = Self::of(&[
        number::SEGV,
        number::BUS,
        number::ILL,
        number::TRAP,
        number::FPE,
        number::SYS,
    ]);

    /// The set of signals by their numbers.
    #[must_use]
    pub const fn of(signals: &[u8]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < signals.len() {
            bits |= 1 << ((signals[index] - 1) & 63);
            index += 1;
        }
        Self(bits)
    }

    /// Whether it has a signal.
    #[must_use]
    pub const fn has(self, signal: u8) -> bool {
        self.0 & Self::of(&[signal]).0 != 0
    }

    /// Whether it has none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds a signal.
    pub fn insert(&mut self, signal: u8) {
        self.0 |= Self::of(&[signal]).0;
    }

    /// Removes signals.
    pub fn remove(&mut self, signals: Self) {
        self.0 &= !signals.0;
    }

    /// The signal that is delivered first: one of a fault, or the lowest number.
    #[must_use]
    pub fn first(self) -> Option<u8> {
        let synchronous = self & Self::SYNCHRONOUS;
        let set = if synchronous.is_empty() {
            self
        } else {
            synchronous
        };
        (!set.is_empty()).then(|| set.0.trailing_zeros() as u8 + 1)
    }
}

impl BitAnd for Set {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Set {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Set {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}
