//! Servers: a budget in each period for threads, rate-monotonic, and the rest shared fairly.

use crate::server::AwaitingBudget;
use crate::{HasServer, Policy, Reservation, Server};
use core::cell::Cell;
use core_list::{Link, Linked, List};

#[cfg(test)]
mod guarantees;
#[cfg(test)]
mod model;

/// What the policy keeps inside each server.
pub struct FairServer<S> {
    /// Its reservation, and what is left of it.
    pub server: Server<S>,
    reservation: Cell<Option<Reservation>>,
    reserved: Link<Reserved<S>>,
    /// How much of the background it has had, in ticks. Who was not there is taken to have had what
    /// others had, so that nobody claims the past.
    finish_tag: Cell<u64>,
    /// The same at the begin of its turn, by which it waits for that and has it.
    start_tag: Cell<u64>,
    background: Cell<bool>,
}

impl<S> FairServer<S> {
    /// That of a server that serves nobody.
    pub const fn new() -> Self {
        Self {
            server: Server::new(),
            reservation: Cell::new(None),
            reserved: Link::new(),
            finish_tag: Cell::new(0),
            start_tag: Cell::new(0),
            background: Cell::new(false),
        }
    }

    /// Whether it is in the background: its budget is used up, or it has none.
    pub fn is_background(&self) -> bool {
        self.background.get()
    }

    /// Whether it comes before another one in the background: it has had less.
    pub fn precedes(&self, other: &Self) -> bool {
        self.start_tag.get() < other.start_tag.get()
    }
}

impl<S> Default for FairServer<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to a server.
pub trait HasFairServer: HasServer {
    /// The policy's part of it, which its [`HasServer::server`] is in as well.
    fn fair_server(&self) -> &FairServer<Self>;
}

/// A server among those with a reservation.
#[derive(Clone, Copy)]
struct Reserved<S>(S);

impl<S: HasFairServer> Linked for Reserved<S> {
    fn link(&self) -> &Link<Self> {
        &self.0.fair_server().reserved
    }
}

/// The policy of a core whose threads have servers: over a [`FixedPriorityScheduler`](crate::FixedPriorityScheduler), whose
/// priorities it gives.
///
/// - **In the foreground**, as long as it has budget, a server's thread has the priority that its
///   period gives it: the shorter, the more urgent (Liu and Layland, 1973). Budgets are those of
///   deferrable servers, as with [`Policy::Reserved`].
/// - **In the background**, without budget, it has what nobody in the foreground wants. Whoever has
///   had least is next, for a turn (start-time fair queueing: Goyal, Guo and Vin, 1996): of two that
///   want to run all the while, neither gets more than two turns more than the other.
///
/// The caller asks to [`update`](FairServers::update) before each decision of the scheduler and at the
/// time that [`until`](FairServers::next_update) says, tells who [runs](FairServers::set_running) after it, and lets
/// whoever gets ready in the background [join](FairServers::enter_background) first. Its threads are
/// [ordered](crate::Schedulable::precedes) within a priority by their accounts.
pub struct FairServers<S> {
    /// The longest period first.
    reserved: List<Reserved<S>>,
    awaiting_budget: List<AwaitingBudget<S>>,
    current: Cell<Option<S>>,
    charged: Cell<u64>,
    /// What nobody who joins the background has had less than.
    virtual_time: Cell<u64>,
    /// Whether a turn is over whose end others wait for.
    slice_over: Cell<bool>,
    slice: Cell<u64>,
}

impl<S> FairServers<S> {
    /// A core without servers; all of it is zero.
    pub const fn new() -> Self {
        Self {
            reserved: List::new(),
            awaiting_budget: List::new(),
            current: Cell::new(None),
            charged: Cell::new(0),
            virtual_time: Cell::new(0),
            slice_over: Cell::new(false),
            slice: Cell::new(0),
        }
    }

    /// Lets turns in the background last so many ticks.
    pub fn set_slice(&self, slice: u64) {
        self.slice.set(slice);
    }
}

impl<S> Default for FairServers<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: HasFairServer> FairServers<S> {
    /// Adds a server whose first period begins at `now`; without a reservation it is in the
    /// background for good. The caller gives all [`ranks`](FairServers::ranks) anew.
    pub fn attach(&self, item: S, reservation: Option<Reservation>, now: u64) {
        let fair = item.fair_server();
        fair.reservation.set(reservation);
        fair.finish_tag.set(0);
        fair.background.set(reservation.is_none());
        let policy = reservation.map_or(Policy::Fixed, Policy::Reserved);
        fair.server.start(policy, now);
        match reservation {
            None => self.assign_tags(item),
            Some(own) => self.reserved.insert(Reserved(item), |_, other| {
                let period = other
                    .0
                    .fair_server()
                    .reservation
                    .get()
                    .map(|own| own.period());
                period.is_some_and(|period| own.period() > period)
            }),
        }
    }

    /// Takes a server away.
    pub fn detach(&self, item: S) {
        self.reserved.remove(Reserved(item));
        self.awaiting_budget.remove(AwaitingBudget(item));
        if self
            .current
            .get()
            .is_some_and(|current| Reserved(current).is(&Reserved(item)))
        {
            self.current.set(None);
        }
    }

    /// The servers with a reservation and the rank of each among their periods, from 0 on: the
    /// shorter the period, the higher; equal periods have one rank.
    pub fn ranks(&self) -> impl Iterator<Item = (S, usize)> {
        let mut last = None;
        let mut rank = 0;
        self.reserved.iter().map(move |Reserved(item)| {
            let period = item.fair_server().reservation.get().map(|own| own.period());
            rank += usize::from(last.is_some_and(|last| Some(last) != period));
            last = period;
            (item, rank)
        })
    }

    /// Whether all could be promised their budgets with one more: each has its own in the time of
    /// its period though all as urgent or more take theirs as densely as deferrable servers can.
    /// What is not shown within a bounded number of steps is not promised.
    pub fn admits(&self, more: Reservation) -> bool {
        let all = || {
            let own = self.reserved.iter();
            let own = own.filter_map(|Reserved(item)| item.fair_server().reservation.get());
            own.chain([more])
        };
        all().enumerate().all(|(number, own)| {
            let more_urgent = |&(other, ref its): &(usize, Reservation)| {
                other != number && its.period() <= own.period()
            };
            let taken = |time: u64| -> u64 {
                let others = all().enumerate().filter(more_urgent);
                let budgets = others.map(|(_, its)| {
                    (time + its.period() - its.budget()).div_ceil(its.period()) * its.budget()
                });
                budgets.sum()
            };
            let mut response = own.budget();
            for _ in 0..STEPS {
                let next = own.budget() + taken(response);
                if next > own.period() {
                    return false;
                }
                if next == response {
                    return true;
                }
                response = next;
            }
            false
        })
    }

    /// Somebody is about to be ready in the background; `contended` as for
    /// [`update`](FairServers::update).
    pub fn enter_background(&self, item: S, now: u64, contended: bool) {
        self.charge(now, contended);
        self.assign_tags(item);
    }

    /// Gives somebody its place among those that wait for their turn: a whole one.
    pub fn assign_tags(&self, item: S) {
        let fair = item.fair_server();
        let finish_tag = fair.finish_tag.get().max(self.virtual_time.get());
        fair.finish_tag.set(finish_tag);
        fair.start_tag.set(finish_tag);
    }

    /// Brings all to `now`: who ran is charged, who has a new budget comes to the foreground, and
    /// who ran out of it goes to the background; `moves` gives them their priorities. `contended` is
    /// whether others wait in the background for the end of the turn of who ran.
    pub fn update(&self, now: u64, contended: bool, moves: impl Fn(S, bool)) {
        self.charge(now, contended);
        while let Some(AwaitingBudget(item)) = self.awaiting_budget.first()
            && item.server().period_end() <= now
        {
            self.awaiting_budget.pop();
            item.server().replenish(now);
            item.fair_server().background.set(false);
            moves(item, true);
        }
        if let Some(current) = self.current.get()
            && current.server().has_depleted_budget()
            && !current.fair_server().is_background()
        {
            self.awaiting_budget
                .insert(AwaitingBudget(current), |one, other| {
                    one.0.server().period_end() < other.0.server().period_end()
                });
            current.fair_server().background.set(true);
            self.assign_tags(current);
            moves(current, false);
        }
    }

    /// Whether a turn ended with the last settlement: the caller ends that of who ran in the
    /// scheduler too.
    pub fn slice_ended(&self) -> bool {
        let current = self.current.get();
        self.slice_over.take()
            && current.is_some_and(|current| current.fair_server().is_background())
    }

    /// From the time of the last settlement on `item` runs, or somebody without a server.
    pub fn set_running(&self, item: Option<S>) {
        self.current.set(item);
        if let Some(item) = item.filter(|item| item.fair_server().is_background()) {
            self.advance_virtual_time(item.fair_server().start_tag.get());
        }
    }

    /// When to settle, though nobody got ready or waited.
    pub fn next_update(&self, contended: bool) -> Option<u64> {
        let now = self.charged.get();
        let next = self
            .awaiting_budget
            .first()
            .map(|AwaitingBudget(item)| item.server().period_end());
        let own = self.current.get().and_then(|current| {
            let fair = current.fair_server();
            if !fair.is_background() {
                return Some(fair.server.start_running(now));
            }
            let left = self.slice.get() - (fair.finish_tag.get() - fair.start_tag.get());
            contended.then_some(now + left)
        });
        let until = next.into_iter().chain(own).min();
        until.filter(|&until| until != u64::MAX)
    }

    /// Charges who ran until `now`.
    fn charge(&self, now: u64, contended: bool) {
        let ran = now.saturating_sub(self.charged.replace(now));
        let Some(current) = self.current.get() else {
            return;
        };
        let fair = current.fair_server();
        if !fair.is_background() {
            return fair.server.charge(ran, now);
        }
        fair.finish_tag.set(fair.finish_tag.get() + ran);
        let used = fair.finish_tag.get() - fair.start_tag.get();
        if used >= self.slice.get() {
            // What is beyond a turn is of the next one. Alone it may have had any number of them.
            let rest = used % self.slice.get();
            fair.start_tag.set(fair.finish_tag.get() - rest);
            self.slice_over.set(contended);
            if !contended {
                self.advance_virtual_time(fair.start_tag.get());
            }
        }
    }

    fn advance_virtual_time(&self, tag: u64) {
        self.virtual_time.set(self.virtual_time.get().max(tag));
    }
}

/// Steps within which a response time is to be found.
const STEPS: usize = 64;
