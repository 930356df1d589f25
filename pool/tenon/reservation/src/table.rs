//! Table of [`Reservations`].

/// What a thread reserves, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Execution time in each period.
    pub budget: u64,
    /// The time from the start of a period by which the thread has had its budget.
    pub deadline: u64,
    /// The period.
    pub period: u64,
}

/// All that is reserved together, in parts of [`WHOLE`].
const MOST: u64 = WHOLE * 95 / 100;
/// A share of the whole core.
const WHOLE: u64 = 1 << 20;

impl Parameters {
    /// The share of a core, rounded down as in Linux.
    fn share(&self) -> u64 {
        (u128::from(self.budget) * u128::from(WHOLE) / u128::from(self.period.max(1))) as u64
    }
}

/// The reservation of a thread.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    /// The place of the thread.
    place: usize,
    parameters: Parameters,
    /// What is left of the budget; less than zero if it was exceeded.
    left: i64,
    /// The present deadline.
    deadline: u64,
    /// The execution time of the thread when it was accounted.
    executed: u64,
    /// It has no budget until the next period.
    throttled: bool,
    /// The thread waits for something else.
    blocked: bool,
    /// The budget was depleted, which the thread has not been told.
    overrun: bool,
}

impl Reservation {
    /// Begins a period at `now` with the whole budget.
    fn renew(&mut self, now: u64) {
        self.deadline = now.saturating_add(self.parameters.deadline);
        self.left = self.parameters.budget as i64;
    }

    /// The start of the next period.
    fn next_period(&self) -> u64 {
        let start = self.deadline.saturating_sub(self.parameters.deadline);
        start.saturating_add(self.parameters.period)
    }

    /// Replenishes the budget at the start of a period: as often as what was exceeded takes.
    fn replenish(&mut self, now: u64) {
        let (budget, period) = (self.parameters.budget.max(1), self.parameters.period);
        let missing = self.left.min(0).unsigned_abs();
        let periods = missing / budget + 1;
        self.deadline = self.deadline.saturating_add(periods.saturating_mul(period));
        let added = i64::try_from(periods.saturating_mul(budget)).unwrap_or(i64::MAX);
        self.left = self.left.min(0).saturating_add(added);
        if self.deadline < now {
            self.renew(now);
        }
        self.throttled = false;
    }

    /// Throttles the thread until the next period, or replenishes the budget if that has begun.
    fn throttle(&mut self, now: u64) {
        if self.next_period() > now {
            self.throttled = true;
        } else {
            self.replenish(now);
        }
    }

    /// Whether what is left of the budget exceeds the share of the time to the deadline.
    fn exceeds_share(&self, now: u64) -> bool {
        let laxity = self.deadline.saturating_sub(now);
        let left = u128::from(self.left.max(0).unsigned_abs());
        left * u128::from(self.parameters.deadline)
            > u128::from(laxity) * u128::from(self.parameters.budget)
    }
}

/// Reservations of threads, `N` at most.
#[derive(Debug)]
pub struct Reservations<const N: usize> {
    all: [Option<Reservation>; N],
}

impl<const N: usize> Default for Reservations<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Reservations<N> {
    /// Begins without one.
    #[must_use]
    pub const fn new() -> Self {
        Self { all: [None; N] }
    }

    fn get(&self, place: usize) -> Option<&Reservation> {
        self.all.iter().flatten().find(|one| one.place == place)
    }

    fn get_mut(&mut self, place: usize) -> Option<&mut Reservation> {
        let mut all = self.all.iter_mut().flatten();
        all.find(|one| one.place == place)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.iter().flatten().count()
    }

    /// Gives the thread at a place a reservation, whose first period begins, or changes the one that it
    /// has. The thread has executed for `executed` so far. Returns whether it fits beside the others;
    /// if not, nothing changes.
    pub fn set(&mut self, place: usize, parameters: Parameters, now: u64, executed: u64) -> bool {
        let others = self.all.iter().flatten().filter(|one| one.place != place);
        let shares = others.map(|one| one.parameters.share()).sum::<u64>();
        let mut all = self.all.iter();
        let own = all.position(|one| one.as_ref().is_some_and(|one| one.place == place));
        let free = own.or_else(|| self.all.iter().position(Option::is_none));
        let Some(free) = free.filter(|_| shares + parameters.share() <= MOST) else {
            return false;
        };
        // Within a period, a change gives no further budget.
        if let Some(one) = &mut self.all[free] {
            one.parameters = parameters;
            one.left = one.left.min(parameters.budget as i64);
            return true;
        }
        let mut reservation = Reservation {
            place,
            parameters,
            left: 0,
            deadline: 0,
            executed,
            throttled: false,
            blocked: false,
            overrun: false,
        };
        reservation.renew(now);
        self.all[free] = Some(reservation);
        true
    }

    /// Ends the reservation of a thread, if it has one.
    pub fn remove(&mut self, place: usize) {
        for one in &mut self.all {
            if one.as_ref().is_some_and(|one| one.place == place) {
                *one = None;
            }
        }
    }

    /// Accounts execution time: that of the thread since its start.
    pub fn account(&mut self, place: usize, executed: u64) {
        if let Some(one) = self.get_mut(place) {
            let since = executed.saturating_sub(one.executed);
            one.left = one.left.saturating_sub_unsigned(since);
            one.executed = executed;
        }
    }

    /// Throttles threads whose budget is depleted as accounted, and replenishes those of which a period
    /// begins.
    pub fn update(&mut self, now: u64) {
        for one in self.all.iter_mut().flatten() {
            if one.throttled {
                if one.next_period() <= now {
                    one.replenish(now);
                }
            } else if one.left <= 0 {
                one.overrun = true;
                one.throttle(now);
            }
        }
    }

    /// The thread waits.
    pub fn block(&mut self, place: usize) {
        if let Some(one) = self.get_mut(place) {
            one.blocked = true;
        }
    }

    /// The thread has waited.
    pub fn wake(&mut self, place: usize, now: u64) {
        let Some(one) = self.get_mut(place) else {
            return;
        };
        one.blocked = false;
        if one.throttled {
            return;
        }
        let constrained = one.parameters.deadline < one.parameters.period;
        if now >= one.deadline {
            // Between its deadline and the next period it would have more than its share.
            if constrained && now < one.next_period() {
                one.left = one.left.min(0);
                one.throttled = true;
            } else {
                one.renew(now);
            }
        } else if one.exceeds_share(now) {
            if constrained {
                let laxity = u128::from(one.deadline - now) * u128::from(one.parameters.budget);
                one.left = (laxity / u128::from(one.parameters.deadline.max(1))) as i64;
            } else {
                one.renew(now);
            }
        }
    }

    /// The thread needs no more of its budget in this period.
    pub fn give_up(&mut self, place: usize, now: u64) {
        if let Some(one) = self.get_mut(place) {
            one.left = one.left.min(0);
            one.throttle(now);
        }
    }

    /// The instant up to which the thread is throttled, if it is.
    #[must_use]
    pub fn throttled_until(&self, place: usize) -> Option<u64> {
        let one = self.get(place).filter(|one| one.throttled)?;
        Some(one.next_period())
    }

    /// Whether the budget of the thread was depleted since the last
    /// [`take_overrun`](Self::take_overrun).
    #[must_use]
    pub fn has_overrun(&self, place: usize) -> bool {
        self.get(place).is_some_and(|one| one.overrun)
    }

    /// Whether the budget of the thread was depleted since the last call.
    pub fn take_overrun(&mut self, place: usize) -> bool {
        let one = self.get_mut(place);
        one.is_some_and(|one| core::mem::take(&mut one.overrun))
    }

    /// The places of all threads with reservations, each with its rank: 0 for the one with the
    /// earliest deadline of those that are not throttled, none for one that is.
    pub fn ranks(&self) -> impl Iterator<Item = (usize, Option<usize>)> {
        let of = |one: &Reservation| {
            if one.throttled {
                return None;
            }
            let others = self.all.iter().flatten().filter(|other| !other.throttled);
            let before = others
                .filter(|other| (other.deadline, other.place) < (one.deadline, one.place))
                .count();
            Some(before)
        };
        self.all
            .iter()
            .flatten()
            .map(move |one| (one.place, of(one)))
    }

    /// When [`update`](Self::update) has something to do at the earliest: the start of a period of a
    /// throttled thread, or the end of the budget of the one that runs if it goes on from now on.
    #[must_use]
    pub fn next_update(&self, now: u64) -> Option<u64> {
        let all = || self.all.iter().flatten();
        let throttled = all().filter(|one| one.throttled);
        let periods = throttled.map(Reservation::next_period).min();
        let ready = all().filter(|one| !one.throttled && !one.blocked);
        let first = ready.min_by_key(|one| (one.deadline, one.place));
        let depleted = first.map(|one| now.saturating_add(one.left.max(0).unsigned_abs()));
        match (periods, depleted) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}
