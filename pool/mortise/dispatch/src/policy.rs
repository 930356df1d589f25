//! Deciding where time matters: budgets, deadlines, turns in the background.

use crate::{
    seat::Seat,
    turns::{Turn, is_pending},
};
use mortise_partition::{Core, Mask};

impl Turn {
    /// Has a virtual CPU want the core, from now on.
    #[inline(never)]
    pub(crate) fn want_by_policy(&self, core: &'static Core, seat: &'static Seat) {
        self.shares.wake(seat, core.clock().ticks());
    }

    /// Charges who ran and gives and ends budgets, the first part of a decision; between two of
    /// its steps the core looks at its interrupts. Whether none came in between.
    #[inline(never)]
    pub(crate) fn has_accounted(&'static self, core: &'static Core) -> bool {
        let mut more = true;
        loop {
            if is_pending() {
                self.serve(core);
                return false;
            }
            if !more {
                return true;
            }
            more = self.shares.account(core.clock().ticks());
        }
    }

    /// Decides by what was promised; until when nothing else can change that.
    #[inline(never)]
    pub(crate) fn decide_by_policy(&self) -> u64 {
        let decision = self.shares.choose();
        self.chosen.set(decision.run);
        if let Some(seat) = decision.run {
            // Who has no budget may go on in the background.
            seat.mask.set(Mask::of(seat.state.priority().number()));
        }
        decision.until.unwrap_or(u64::MAX)
    }
}
