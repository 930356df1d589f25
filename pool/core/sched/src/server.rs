//! Budget servers: policies, reservations and their accounting.

mod edf;
mod usage;
#[cfg(test)]
mod usage_tests;

pub use usage::EndedPeriods;

use core::cell::Cell;
use core_list::{Link, Linked};

/// What an entity does from the depletion of its budget to the next replenishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDepletion {
    /// It does not run: the reservation is also its limit.
    Wait,
    /// It runs in the background, without charge.
    Background,
}

/// A budget of execution time per period, in ticks of the caller's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    budget: u32,
    period: u32,
    on_depletion: OnDepletion,
}

impl Reservation {
    /// A reservation of `budget` ticks per `period`; `None` unless 0 < budget <= period.
    ///
    /// Both values fit in 32 bits, 68 s at 62.5 MHz, so that a product of two is exact in 64 bits.
    pub fn new(budget: u64, period: u64, on_depletion: OnDepletion) -> Option<Self> {
        let (budget, period) = (u32::try_from(budget).ok()?, u32::try_from(period).ok()?);
        let fits = 0 < budget && budget <= period;
        fits.then_some(Self {
            budget,
            period,
            on_depletion,
        })
    }

    /// Execution time per period, in ticks.
    pub const fn budget(&self) -> u64 {
        self.budget as u64
    }

    /// Time between two replenishments, in ticks.
    pub const fn period(&self) -> u64 {
        self.period as u64
    }
}

/// How an entity is scheduled within its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// First in, first out, without a budget.
    Fixed,
    /// First in, first out, by a deferrable server (Strosnider, Lehoczky and Sha, 1995): the budget
    /// is kept while the entity is blocked, and replenished at each period boundary, counted from
    /// [`begin`](crate::SchedEntity::begin).
    Reserved(Reservation),
    /// Earliest deadline first, by a constant-bandwidth server with hard reservations (Abeni and
    /// Buttazzo, 1998): the deadline is the end of the current period.
    Deadline(Reservation),
}

/// A reservation and its remaining budget.
pub struct Server<S> {
    kind: Cell<Kind>,
    /// Whether the entity runs in the background while its budget is depleted.
    background: Cell<bool>,
    budget: Cell<i64>,
    period: Cell<u64>,
    /// Remaining budget in ticks. A negative value is an overrun, which the next budget pays for.
    left: Cell<i64>,
    /// End of the current period: the time of the next replenishment, and the deadline. `u64::MAX`
    /// without a reservation.
    period_end: Cell<u64>,
    link: Link<AwaitingBudget<S>>,
}

/// The replenishment rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fixed,
    Reserved,
    Deadline,
}

impl<S> Server<S> {
    /// A server without a reservation.
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

    /// Starts the first period at `now` with a full budget.
    pub(crate) fn start(&self, policy: Policy, now: u64) {
        let (kind, own) = match policy {
            Policy::Fixed => (Kind::Fixed, None),
            Policy::Reserved(own) => (Kind::Reserved, Some(own)),
            Policy::Deadline(own) => (Kind::Deadline, Some(own)),
        };
        self.kind.set(kind);
        let background = |own: &Reservation| own.on_depletion == OnDepletion::Background;
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

    /// Whether there is a budget and it is depleted.
    #[inline(always)]
    pub(crate) fn has_depleted_budget(&self) -> bool {
        self.is_depleted() && self.is_limited()
    }

    /// Whether no budget remains.
    #[inline(always)]
    pub(crate) fn is_depleted(&self) -> bool {
        self.left.get() <= 0
    }

    /// Whether there is a budget.
    #[inline(always)]
    pub(crate) fn is_limited(&self) -> bool {
        self.kind.get() != Kind::Fixed
    }

    /// Whether the entity runs in the background while its budget is depleted.
    #[inline(always)]
    pub fn has_background(&self) -> bool {
        self.background.get()
    }

    /// Charges `ran` ticks within the current period.
    #[inline(always)]
    pub(crate) fn charge_in_period(&self, ran: u64) {
        self.left.set(self.left.get() - ran as i64);
    }

    /// Sets the next budget, less an overrun.
    #[inline(always)]
    fn refill(&self) {
        // An overrun beyond a whole budget is dropped: the caller was too late for any guarantee.
        let left = self.budget.get() + self.left.get().min(0);
        self.left.set(left.max(1));
    }

    /// End of the period that contains `now`, if the following period is over too.
    #[cold]
    fn current_period_end(&self, now: u64) -> u64 {
        let (end, period) = (self.period_end.get(), self.period.get());
        let over = (now - end).checked_rem(period).unwrap_or(0);
        now - over + period
    }

    /// Whether the current period is over.
    #[inline(always)]
    pub(crate) fn is_period_over(&self, now: u64) -> bool {
        self.period_end.get() <= now
    }
}

impl<S: HasServer> Server<S> {
    /// Charges `ran` ticks of execution up to `now`, if there is a budget.
    #[inline(always)]
    pub(crate) fn charge(&self, own: S, ran: u64, now: u64) {
        let ran = match self.pass_periods(own, ran, now) {
            // Execution before the boundary is of a budget that has ended with its period.
            Some(boundary) => now - boundary,
            None => ran,
        };
        self.left.set(self.left.get() - ran as i64);
    }

    /// Replenishes the budget at or after the end of the period.
    #[inline(always)]
    pub(crate) fn replenish(&self, own: S, now: u64) {
        own.periods_ended(|| self.ended_depleted(now));
        self.refill();
        let end = self.period_end.get() + self.period.get();
        self.period_end.set(match end > now || self.has_deadline() {
            true => end,
            false => self.current_period_end(now),
        });
    }

    /// Starts execution at `now`; returns when the budget will be depleted, `u64::MAX` if never.
    #[inline(always)]
    pub(crate) fn start_running(&self, own: S, now: u64) -> u64 {
        self.pass_periods(own, 0, now);
        let limit = now.wrapping_add_signed(self.left.get());
        let (end, budget) = (self.period_end.get(), self.budget.get() as u64);
        if limit < end || self.has_deadline() {
            return limit;
        }
        // A boundary before depletion starts another budget, which lasts its own length.
        match budget < self.period.get() {
            true => end + budget,
            false => u64::MAX,
        }
    }

    /// For a deferrable server, replenishes at the last period boundary before `now`, if there was
    /// one; returns that boundary. The last `ran` ticks of execution have not been charged.
    #[inline(always)]
    fn pass_periods(&self, own: S, ran: u64, now: u64) -> Option<u64> {
        let late = now.checked_sub(self.period_end.get())?;
        if self.kind.get() != Kind::Reserved {
            return None;
        }
        own.periods_ended(|| self.ended(ran, now));
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

/// A reference to an entity with a budget: a vCPU, or the server of a thread.
pub trait HasServer: Copy {
    /// The entity's budget.
    fn server(&self) -> &Server<Self>;

    /// Called when periods of the server have ended, before its budget is replenished. A caller that
    /// needs no statistics does not call `ended`, and nothing of it is compiled.
    #[inline(always)]
    fn periods_ended(&self, _ended: impl FnOnce() -> EndedPeriods) {}
}

/// An entity with a depleted budget, in the order of replenishment. Its link is separate from that
/// of the ready list.
#[derive(Clone, Copy)]
pub(crate) struct AwaitingBudget<S>(pub(crate) S);

impl<S: HasServer> Linked for AwaitingBudget<S> {
    fn link(&self) -> &Link<Self> {
        &self.0.server().link
    }
}
