//! EDF: servers with a deadline, by the constant-bandwidth server with hard reservations (Abeni and
//! Buttazzo, 1998). The deadline is the end of the current period.

use super::{HasServer, Kind, Server};

impl<S> Server<S> {
    /// Whether the end of the period is a deadline.
    #[inline(always)]
    pub(crate) fn has_deadline(&self) -> bool {
        self.kind.get() == Kind::Deadline
    }

    /// Whether its deadline is earlier than that of `other`.
    #[inline(always)]
    pub(crate) fn has_earlier_deadline(&self, other: &Self) -> bool {
        self.period_end.get() < other.period_end.get()
    }
}

impl<S: HasServer> Server<S> {
    /// Applies the wake-up rule of the policy at `now`. With a deadline, the remaining budget is kept
    /// only if it does not exceed the bandwidth over the time to the deadline; otherwise it would
    /// delay others beyond their deadlines. A new period starts then.
    #[inline(always)]
    pub(crate) fn wake(&self, own: S, now: u64) {
        if !self.has_deadline() {
            self.pass_periods(own, 0, now);
            return;
        }
        let share = |time| time * self.budget.get() as u64;
        let left = self.left.get().max(0) as u64 * self.period.get();
        let end = self.period_end.get();
        if now >= end || left > share(end - now) {
            own.periods_ended(|| self.ended(0, now));
            self.refill();
            self.period_end.set(now + self.period.get());
        }
    }

    /// Replenishes a server whose period ended with budget left that is depleted now. A deadline
    /// that is over as well is postponed to a period from now.
    pub(crate) fn postpone(&self, own: S, now: u64) {
        self.replenish(own, now);
        if self.has_deadline() && self.period_end.get() <= now {
            self.period_end.set(now + self.period.get());
        }
    }
}
