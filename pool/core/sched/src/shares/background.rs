//! The background, where all take turns in what nobody in the foreground wants.

use super::{Shares, is};
use crate::claim::{Claimant, Place, Ready};

impl<S: Claimant> Shares<S> {
    /// Who runs where all are in the background, and until when.
    #[inline(always)]
    pub(super) fn choose_behind(&self, first: S, now: u64) -> (Option<S>, u64) {
        let run = self.take_turn(first);
        self.metered.set(None);
        self.turning.set(true);
        let budget = match Self::has_budget(run) {
            true => run.server().take_over(now),
            false => u64::MAX,
        };
        let until = budget.min(self.next_budget(Place::BACKGROUND));
        (Some(run), until.min(self.turn_end(run, now)))
    }

    /// Who runs instead of the first one in the background: the next one, if its turn is over.
    #[inline(always)]
    fn take_turn(&self, first: S) -> S {
        let mut next = first;
        let mut late = 0;
        if is(self.turn.get(), first) {
            if self.turn_left.get() > 0 || !self.has_others_behind(first) {
                return first;
            }
            self.ready.pop_first(Ready(first));
            self.ready.push(Ready(first));
            next = self.most_urgent().unwrap_or(first);
            // What a turn took beyond its end is of the next one, if there was an end to keep.
            late = match self.turn_ends.get() {
                true => self.turn_left.get().max(1 - self.slice),
                false => 0,
            };
        }
        self.turn.set(Some(next));
        self.turn_left.set(self.slice + late);
        next
    }

    /// When the turn ends of who runs in the background, if somebody waits for that.
    #[inline(always)]
    fn turn_end(&self, run: S, now: u64) -> u64 {
        let ends = self.has_others_behind(run);
        self.turn_ends.set(ends);
        match ends {
            // A turn that is chosen has ticks left.
            true => now.wrapping_add_signed(self.turn_left.get()),
            false => u64::MAX,
        }
    }

    /// Whether the first one in the background is not alone there.
    #[inline(always)]
    fn has_others_behind(&self, first: S) -> bool {
        self.ready.after(Ready(first)).is_some()
    }
}
