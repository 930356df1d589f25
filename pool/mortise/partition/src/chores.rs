//! What a core that is shared does for Mortise itself, between what its guests do.

use crate::{console, machine::Core};
use core::cell::Cell;

/// Something is to be done before any guest goes on: what one of them asked for.
const ASKED: u8 = 1;
/// Something is due by the clock.
const DUE: u8 = 1 << 1;
/// That has waited long enough.
const OVERDUE: u8 = DUE << 1;

/// Nanoseconds that what is due by the clock waits for somebody urgent at most.
const PATIENCE: u64 = 1_000_000;

/// What there is to do, of each kind.
pub(crate) struct Chores(Cell<u8>);

impl Chores {
    /// Nothing.
    pub(crate) const fn new() -> Self {
        Self(Cell::new(0))
    }

    /// Has there be something that goes before any guest.
    pub(crate) fn ask(&self) {
        self.0.set(self.0.get() | ASKED);
    }
}

/// Each on that core.
impl Core {
    /// Notes that Mortise itself has something to do here by now. If it is still there to be done
    /// when this comes again, it waits for nobody any more.
    pub fn sound(&'static self) {
        let chores = self.chores.0.get();
        self.chores.0.set(chores | DUE | (chores & DUE) << 1);
        let clock = self.clock();
        self.set_own_alarm(match chores & DUE {
            0 => clock.ticks() + clock.frequency().ticks(PATIENCE),
            _ => u64::MAX,
        });
    }

    /// Whether there are chores.
    #[inline]
    #[must_use]
    pub fn has_chores(&self) -> bool {
        self.chores.0.get() != 0
    }

    /// Whether some of them wait for nobody.
    #[inline]
    #[must_use]
    pub fn has_pressing_chores(&self) -> bool {
        self.chores.0.get() & (ASKED | OVERDUE) != 0
    }

    /// Does a step of the chores: until the next look at what is pending, if something is.
    pub fn chore(&'static self) {
        let stop = || self.is_wanted();
        if !console::settle_lines(self, &stop) || !console::flush(self.machine, &stop) || stop() {
            return;
        }
        if self.typed.get() {
            self.typed.set(!console::take_typed(self.machine, &stop));
            return;
        }
        let chores = self.chores.0.get();
        if chores & ASKED != 0 {
            // What is due is not for everybody to wait for.
            self.chores.0.set(chores & !ASKED);
        } else if !self.machine.alarms.step(self, &stop) {
            self.chores.0.set(0);
        }
    }
}
