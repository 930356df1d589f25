//! The background: round robin among the entities at priority 0.

use super::{ReservationScheduler, is};
use crate::entity::{HasSchedEntity, Ready, RunKey};

impl<S: HasSchedEntity> ReservationScheduler<S> {
    /// The entity to run while all ready entities are in the background, and the time of the next
    /// decision.
    #[inline(always)]
    pub(super) fn pick_background(&self, first: S, now: u64) -> (Option<S>, u64) {
        let run = self.rotate_background(first);
        self.budgeted.set(None);
        self.in_background.set(true);
        let budget = match Self::has_budget(run) {
            true => run.server().start_running(run, now),
            false => u64::MAX,
        };
        let until = budget.min(self.next_replenishment(RunKey::BACKGROUND));
        (Some(run), until.min(self.slice_end(run, now)))
    }

    /// The owner of the time slice: the next entity if that of `first` is over.
    #[inline(always)]
    fn rotate_background(&self, first: S) -> S {
        let mut next = first;
        let mut overrun = 0;
        if is(self.slice_owner.get(), first) {
            if self.slice_left.get() > 0 || !self.has_background_peers(first) {
                return first;
            }
            self.ready.pop_first(Ready(first));
            self.ready.push(Ready(first));
            next = self.highest().unwrap_or(first);
            // An overrun of a contended slice is deducted from the next one.
            overrun = match self.slice_contended.get() {
                true => self.slice_left.get().max(1 - self.slice.get()),
                false => 0,
            };
        }
        self.slice_owner.set(Some(next));
        self.slice_left.set(self.slice.get() + overrun);
        next
    }

    /// The end of the running entity's time slice, if another entity is ready in the background.
    #[inline(always)]
    fn slice_end(&self, run: S, now: u64) -> u64 {
        let ends = self.has_background_peers(run);
        self.slice_contended.set(ends);
        match ends {
            // A selected slice has ticks left.
            true => now.wrapping_add_signed(self.slice_left.get()),
            false => u64::MAX,
        }
    }

    /// Whether another entity is ready in the background.
    #[inline(always)]
    fn has_background_peers(&self, first: S) -> bool {
        self.ready.after(Ready(first)).is_some()
    }
}
