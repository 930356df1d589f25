//! How an entity shares its core with others, and what it has left of its share.

use core::cell::Cell;
use core_list::{Link, Linked};

/// What becomes of an entity whose budget is used up, until it has its next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDepletion {
    /// It does not run: the reservation is its cap too.
    Wait,
    /// It runs in the background, uncharged.
    Background,
}

/// So much of the core in each period; in ticks of the caller's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    budget: u32,
    period: u32,
    exhausted: OnDepletion,
}

impl Reservation {
    /// The reservation of `budget` in each `period`, if there is a budget and the period holds it.
    ///
    /// Both have 32 bits, 68 s at 62.5 MHz, so that a product of two is exact in a word.
    pub fn new(budget: u64, period: u64, exhausted: OnDepletion) -> Option<Self> {
        let (budget, period) = (u32::try_from(budget).ok()?, u32::try_from(period).ok()?);
        let fits = 0 < budget && budget <= period;
        fits.then_some(Self {
            budget,
            period,
            exhausted,
        })
    }

    /// Ticks it may run in each period.
    pub const fn budget(&self) -> u64 {
        self.budget as u64
    }

    /// Ticks from one budget to the next.
    pub const fn period(&self) -> u64 {
        self.period as u64
    }
}

/// How an entity is scheduled within its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// First in, first out, as long as it wants.
    Fixed,
    /// First in, first out, by a deferrable server (Strosnider, Lehoczky and Sha, 1995): the budget
    /// is kept while the entity waits, and full again at each boundary of a period, counted from
    /// the begin of its life.
    Reserved(Reservation),
    /// Earliest deadline first, by a constant-bandwidth server with hard reservations (Abeni and
    /// Buttazzo, 1998): the deadline is the end of the current period.
    Deadline(Reservation),
}

/// A reservation, and what is left of it.
pub struct Server<S> {
    kind: Cell<Kind>,
    /// Whether it runs on without a budget.
    background: Cell<bool>,
    budget: Cell<i64>,
    period: Cell<u64>,
    /// Ticks left of the budget. What it ran beyond its budget before the caller asked is below zero,
    /// and of the next one.
    left: Cell<i64>,
    /// The end of the current period: the next budget's time, the deadline. The end of time without
    /// a reservation.
    period_end: Cell<u64>,
    link: Link<AwaitingBudget<S>>,
}

/// How a budget comes again, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fixed,
    Reserved,
    Deadline,
}

impl<S> Server<S> {
    /// That of an entity whose life has not begun.
    pub const fn new() -> Self {
        Self {
            kind: Cell::new(Kind::Fixed),
            background: Cell::new(false),
            budget: Cell::new(0),
            period: Cell::new(0),
            left: Cell::new(0),
            period_end: Cell::new(u64::MAX),
            link: Link::new(),
        }
    }

    /// Lets the first period begin.
    pub(crate) fn start(&self, policy: Policy, now: u64) {
        let (kind, own) = match policy {
            Policy::Fixed => (Kind::Fixed, None),
            Policy::Reserved(own) => (Kind::Reserved, Some(own)),
            Policy::Deadline(own) => (Kind::Deadline, Some(own)),
        };
        self.kind.set(kind);
        let background = |own: &Reservation| own.exhausted == OnDepletion::Background;
        self.background.set(own.as_ref().is_some_and(background));
        self.budget.set(own.map_or(0, |own| own.budget.into()));
        self.period.set(own.map_or(0, |own| own.period()));
        self.left.set(self.budget.get());
        self.period_end
            .set(own.map_or(u64::MAX, |own| now + own.period()));
    }

    #[inline(always)]
    pub(crate) fn period_end(&self) -> u64 {
        self.period_end.get()
    }

    /// Whether its budget is good until a deadline.
    #[inline(always)]
    pub(crate) fn has_deadline(&self) -> bool {
        self.kind.get() == Kind::Deadline
    }

    /// Whether it has a budget, and nothing left of it.
    #[inline(always)]
    pub(crate) fn has_depleted_budget(&self) -> bool {
        self.is_depleted() && self.is_limited()
    }

    /// Whether nothing is left of the budget that it has.
    #[inline(always)]
    pub(crate) fn is_depleted(&self) -> bool {
        self.left.get() <= 0
    }

    /// Whether it has a budget at all.
    #[inline(always)]
    pub(crate) fn is_limited(&self) -> bool {
        self.kind.get() != Kind::Fixed
    }

    /// Whether it runs on without a budget, in the background.
    #[inline(always)]
    pub fn has_background(&self) -> bool {
        self.background.get()
    }

    /// Takes `ran` ticks until `now` from the budget, if it has one.
    #[inline(always)]
    pub(crate) fn charge(&self, ran: u64, now: u64) {
        let ran = match self.pass_periods(now) {
            // What ran before the boundary was of the old budget.
            Some(boundary) => now - boundary,
            None => ran,
        };
        self.left.set(self.left.get() - ran as i64);
    }

    /// The same within the period.
    #[inline(always)]
    pub(crate) fn charge_in_period(&self, ran: u64) {
        self.left.set(self.left.get() - ran as i64);
    }

    /// Has the next budget.
    #[inline(always)]
    fn refill(&self) {
        // What is more than a whole budget is forgotten: a caller that late keeps no promise.
        let left = self.budget.get() + self.left.get().min(0);
        self.left.set(left.max(1));
    }

    /// Becomes ready at `now`.
    #[inline(always)]
    pub(crate) fn wake(&self, now: u64) {
        if !self.has_deadline() {
            self.pass_periods(now);
            return;
        }
        // What is left is good for the time left only if it is no more than the share: otherwise it
        // would delay others beyond their deadlines. A new period begins then.
        let share = |time| time * self.budget.get() as u64;
        let left = self.left.get().max(0) as u64 * self.period.get();
        let end = self.period_end.get();
        if now >= end || left > share(end - now) {
            self.refill();
            self.period_end.set(now + self.period.get());
        }
    }

    /// The next budget of one who has them, at or after the end of the period.
    #[inline(always)]
    pub(crate) fn replenish(&self, now: u64) {
        self.refill();
        let end = self.period_end.get() + self.period.get();
        self.period_end.set(match end > now || self.has_deadline() {
            true => end,
            false => self.current_period_end(now),
        });
    }

    /// The end of the period that `now` is in, where that is not the next one.
    #[cold]
    fn current_period_end(&self, now: u64) -> u64 {
        let (end, period) = (self.period_end.get(), self.period.get());
        let over = (now - end).checked_rem(period).unwrap_or(0);
        now - over + period
    }

    /// Whether the period has ended.
    #[inline(always)]
    pub(crate) fn is_period_over(&self, now: u64) -> bool {
        self.period_end.get() <= now
    }

    /// The next budget of one whose period has ended before the last one was used up. A deadline that
    /// is over too moves further.
    pub(crate) fn postpone(&self, now: u64) {
        self.replenish(now);
        if self.has_deadline() && self.period_end.get() <= now {
            self.period_end.set(now + self.period.get());
        }
    }

    /// Runs from `now` on: when its budget will be used up, or the end of time.
    #[inline(always)]
    pub(crate) fn start_running(&self, now: u64) -> u64 {
        self.pass_periods(now);
        let limit = now.wrapping_add_signed(self.left.get());
        let (end, budget) = (self.period_end.get(), self.budget.get() as u64);
        if limit < end || self.has_deadline() {
            return limit;
        }
        // A boundary before that begins another budget, which lasts as long as itself.
        match budget < self.period.get() {
            true => end + budget,
            false => u64::MAX,
        }
    }

    /// Of a budget that comes with time, has the full one from the last boundary on that is over at
    /// `now`; returns that one.
    #[inline(always)]
    fn pass_periods(&self, now: u64) -> Option<u64> {
        let late = now.checked_sub(self.period_end.get())?;
        if self.kind.get() != Kind::Reserved {
            return None;
        }
        let period = self.period.get();
        let boundary = match late < period {
            true => self.period_end.get(),
            false => now - late.checked_rem(period)?,
        };
        self.period_end.set(boundary + period);
        self.refill();
        Some(boundary)
    }
}

impl<S> Default for Server<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to something with a share of a core: a vCPU, the server of a thread.
pub trait HasServer: Copy {
    /// The part of it that keeps its share.
    fn server(&self) -> &Server<Self>;
}

/// An entity among those whose budget is used up, linked apart from the ready ones.
#[derive(Clone, Copy)]
pub(crate) struct AwaitingBudget<S>(pub(crate) S);

impl<S: HasServer> Linked for AwaitingBudget<S> {
    fn link(&self) -> &Link<Self> {
        &self.0.server().link
    }
}
