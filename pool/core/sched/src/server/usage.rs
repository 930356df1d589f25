//! Statistics of budgets: how much of a budget is used in each period.

use super::Server;
use crate::cold_path;

/// Periods of a server that have ended, and the part of the budget that was used in each.
///
/// An overrun belongs to the period that pays for it: what is used in a period never exceeds the
/// budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedPeriods {
    /// Ticks of the budget that were used in the first of them. `None` for one with a deadline in
    /// which the entity did not run: its next wake-up starts another.
    pub used: Option<u64>,
    /// The number of those that followed it.
    pub further: u64,
    /// Ticks of the budget that were used in each of these: all of it by an entity that ran
    /// throughout, none by one that did not run.
    pub used_further: u64,
}

impl<S> Server<S> {
    /// The budget of each period in ticks; 0 without a reservation.
    #[inline(always)]
    pub fn budget(&self) -> u64 {
        self.budget.get() as u64
    }

    /// The current period, in which the budget was depleted, and those after it that have ended by
    /// `now`.
    #[inline(always)]
    pub(super) fn ended_depleted(&self, now: u64) -> EndedPeriods {
        EndedPeriods {
            used: Some(self.budget()),
            further: self.further(now.saturating_sub(self.period_end.get())),
            used_further: 0,
        }
    }

    /// The number of whole periods in the time `past` since the end of the current one.
    #[inline(always)]
    fn further(&self, past: u64) -> u64 {
        // The next period of one with a deadline begins with a wake-up, or is the one to which the
        // deadline is postponed.
        if past < self.period.get() || self.has_deadline() {
            return 0;
        }
        cold_path();
        past.checked_div(self.period.get()).unwrap_or(0)
    }

    /// The current period and those after it that have ended by `now`. The last `ran` ticks were
    /// execution that has not been charged.
    #[inline(always)]
    pub(super) fn ended(&self, ran: u64, now: u64) -> EndedPeriods {
        let past = now.saturating_sub(self.period_end.get());
        // A charge ahead of time makes this negative.
        let before_end = (ran as i64).saturating_sub(past as i64);
        let left = self.left.get() - before_end.max(0);
        let used = (self.budget.get() - left.max(0)) as u64;
        EndedPeriods {
            used: (used > 0 || !self.has_deadline()).then_some(used),
            further: self.further(past),
            used_further: match before_end > 0 {
                true => self.budget(),
                false => 0,
            },
        }
    }
}
