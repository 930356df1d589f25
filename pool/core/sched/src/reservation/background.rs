//! The background, where all take turns in what nobody in the foreground wants.

use super::{ReservationScheduler, is};
use crate::entity::{HasSchedEntity, Ready, RunKey};

impl<S: HasSchedEntity> ReservationScheduler<S> {
    /// Who runs where all are in the background, and until when.
    #[inline(always)]
    pub(super) fn pick_background(&self, first: S, now: u64) -> (Option<S>, u64) {
        let run = self.rotate_background(first);
        self.budgeted.set(None);
        self.in_background.set(true);
        let budget = match Self::has_budget(run) {
            true => run.server().start_running(now),
            false => u64::MAX,
        };
        let until = budget.min(self.next_replenishment(RunKey::BACKGROUND));
        (Some(run), until.min(self.slice_end(run, now)))
    }

    /// Who runs instead of the first one in the background: the next one, if its turn is over.
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
            // What a turn took beyond its end is of the next one, if there was an end to keep.
            overrun = match self.slice_contended.get() {
                true => self.slice_left.get().max(1 - self.slice),
                false => 0,
            };
        }
        self.slice_owner.set(Some(next));
        self.slice_left.set(self.slice + overrun);
        next
    }

    /// When the turn ends of who runs in the background, if somebody waits for that.
    #[inline(always)]
    fn slice_end(&self, run: S, now: u64) -> u64 {
        let ends = self.has_background_peers(run);
        self.slice_contended.set(ends);
        match ends {
            // A turn that is chosen has ticks left.
            true => now.wrapping_add_signed(self.slice_left.get()),
            false => u64::MAX,
        }
    }

    /// Whether the first one in the background is not alone there.
    #[inline(always)]
    fn has_background_peers(&self, first: S) -> bool {
        self.ready.after(Ready(first)).is_some()
    }
}
