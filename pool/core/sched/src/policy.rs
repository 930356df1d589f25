//! How an entity shares its core with others, and what it has left of its share.

use crate::{Priority, State};
use core::cell::Cell;
use core_list::{Link, Linked};

/// What becomes of an entity whose budget is used up, until it has its next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
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
    exhausted: Exhausted,
}

impl Reservation {
    /// The reservation of `budget` in each `period`, if there is a budget and the period holds it.
    ///
    /// Both have 32 bits, 68 s at 62.5 MHz, so that a product of two is exact in a word.
    pub fn new(budget: u64, period: u64, exhausted: Exhausted) -> Option<Self> {
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

impl Policy {
    const fn reservation(&self) -> Option<&Reservation> {
        match self {
            Self::Fixed => None,
            Self::Reserved(reservation) | Self::Deadline(reservation) => Some(reservation),
        }
    }
}

/// What the scheduler keeps inside each entity, beside its [`State`].
pub struct Server<S> {
    policy: Cell<Policy>,
    /// The entity's own; that of its state is lower while it runs in the background.
    priority: Cell<Priority>,
    /// Ticks left of the budget; for ever without a reservation, so that one look tells both.
    left: Cell<u64>,
    /// Ticks that it ran beyond its budget before the caller asked: they are of the next one.
    debt: Cell<u64>,
    /// The end of the current period: the next budget's time, the deadline.
    end: Cell<u64>,
    link: Link<Spent<S>>,
}

/// Ticks left of no budget.
const UNLIMITED: u64 = u64::MAX;

impl<S> Server<S> {
    /// That of an entity whose life has not begun.
    pub const fn new() -> Self {
        Self {
            policy: Cell::new(Policy::Fixed),
            priority: Cell::new(Priority::LOWEST),
            left: Cell::new(UNLIMITED),
            debt: Cell::new(0),
            end: Cell::new(0),
            link: Link::new(),
        }
    }

    /// For a life to begin at `now`, of an entity that is not ready: the first period begins too.
    pub fn begin(&self, state: &State, priority: Priority, policy: Policy, now: u64) {
        state.set_priority(priority);
        self.priority.set(priority);
        self.start(policy, now);
    }

    /// Lets the first period begin.
    pub(crate) fn start(&self, policy: Policy, now: u64) {
        self.policy.set(policy);
        let reservation = policy.reservation();
        self.debt.set(0);
        self.left
            .set(reservation.map_or(UNLIMITED, Reservation::budget));
        self.end
            .set(reservation.map_or(UNLIMITED, |own| now + own.period()));
    }

    pub(crate) fn priority(&self) -> Priority {
        self.priority.get()
    }

    pub(crate) fn end(&self) -> u64 {
        self.end.get()
    }

    /// Whether a deadline orders it among its peers.
    pub(crate) fn has_deadline(&self) -> bool {
        matches!(self.policy.get(), Policy::Deadline(_))
    }

    /// Whether it has a budget, and nothing left of it.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// Whether it has a budget at all.
    pub(crate) fn is_limited(&self) -> bool {
        self.left.get() != UNLIMITED
    }

    /// Whether it runs on without a budget.
    pub(crate) fn has_background(&self) -> bool {
        let policy = self.policy.get();
        let reservation = policy.reservation();
        reservation.is_some_and(|reservation| reservation.exhausted == Exhausted::Background)
    }

    /// Takes `ran` ticks until `now` from the budget.
    pub(crate) fn charge(&self, ran: u64, now: u64) {
        let ran = match self.policy.get() {
            Policy::Fixed => return,
            // What ran before the boundary was of the old budget.
            Policy::Reserved(reservation) => match self.pass_boundaries(&reservation, now) {
                Some(boundary) => now - boundary,
                None => ran,
            },
            Policy::Deadline(_) => ran,
        };
        let left = self.left.get();
        self.left.set(left.saturating_sub(ran));
        self.debt.set(self.debt.get() + ran.saturating_sub(left));
    }

    /// Has the next budget.
    fn fill(&self, reservation: &Reservation) {
        let budget = reservation.budget();
        // What is more than a whole budget is forgotten: a caller that late keeps no promise.
        self.left.set(budget - self.debt.take().min(budget - 1));
    }

    /// Becomes ready at `now`.
    pub(crate) fn wake(&self, now: u64) {
        match self.policy.get() {
            Policy::Fixed => {}
            Policy::Reserved(reservation) => {
                self.pass_boundaries(&reservation, now);
            }
            Policy::Deadline(reservation) => {
                let (budget, period) = (reservation.budget(), reservation.period());
                // What is left is good for the time left only if it is no more than the share:
                // otherwise it would delay others beyond their deadlines. A new period begins then.
                let late = now >= self.end.get();
                if late || self.left.get() * period > (self.end.get() - now) * budget {
                    self.fill(&reservation);
                    self.end.set(now + period);
                }
            }
        }
    }

    /// A new budget at or after the end of the period.
    pub(crate) fn replenish(&self, now: u64) {
        match self.policy.get() {
            Policy::Fixed => {}
            Policy::Reserved(reservation) => {
                self.pass_boundaries(&reservation, now);
            }
            Policy::Deadline(reservation) => {
                self.fill(&reservation);
                self.end.set(self.end.get() + reservation.period());
            }
        }
    }

    /// A deadline that passed before the budget was used up does not hold others back: it moves
    /// by a period, and further if that is over too. Returns whether it had passed.
    pub(crate) fn miss(&self, now: u64) -> bool {
        let missed = self.end.get() <= now;
        if missed {
            self.replenish(now);
            if let (true, Policy::Deadline(late)) = (self.end.get() <= now, self.policy.get()) {
                self.end.set(now + late.period());
            }
        }
        missed
    }

    /// Runs from `now` on: when its budget will be used up, or the end of time.
    pub(crate) fn take_over(&self, now: u64) -> u64 {
        match self.policy.get() {
            Policy::Fixed => u64::MAX,
            Policy::Reserved(own) => {
                self.pass_boundaries(&own, now);
                let limit = now + self.left.get();
                match (limit < self.end.get(), own.budget < own.period) {
                    (true, _) => limit,
                    // A boundary before that begins another budget, which lasts as long as itself.
                    (false, true) => self.end.get() + own.budget(),
                    (false, false) => u64::MAX,
                }
            }
            Policy::Deadline(_) => now + self.left.get(),
        }
    }

    /// Has the full budget from the last boundary on that is over at `now`; returns that one.
    fn pass_boundaries(&self, reservation: &Reservation, now: u64) -> Option<u64> {
        let late = now.checked_sub(self.end.get())?;
        let boundary = now - late % reservation.period();
        self.end.set(boundary + reservation.period());
        self.fill(reservation);
        Some(boundary)
    }
}

impl<S> Default for Server<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to something with a share of a core: a vCPU, the server of a thread.
pub trait Entity: Copy {
    /// The part of it that keeps its share.
    fn server(&self) -> &Server<Self>;
}

/// An entity among those whose budget is used up, linked apart from the ready ones.
#[derive(Clone, Copy)]
pub(crate) struct Spent<S>(pub(crate) S);

impl<S: Entity> Linked for Spent<S> {
    fn link(&self) -> &Link<Self> {
        &self.0.server().link
    }
}
