//! Servers of threads: rate-monotonic reservations and a fair background.

use crate::server::AwaitingBudget;
use crate::{HasServer, Policy, Reservation, Server};
use core::cell::Cell;
use core_list::{Link, Linked, List};

#[cfg(test)]
mod guarantees;
#[cfg(test)]
mod model;

/// Per-server state of [`FairServers`].
pub struct FairServer<S> {
    /// The reservation and its remaining budget.
    pub server: Server<S>,
    reservation: Cell<Option<Reservation>>,
    reserved: Link<Reserved<S>>,
    /// Virtual finish tag: execution time in the background, in ticks. A server that was blocked is
    /// advanced to the virtual time of the others, so that it cannot claim the past.
    finish_tag: Cell<u64>,
    /// Virtual start tag: the finish tag at the start of the current time slice, by which servers
    /// are ordered.
    start_tag: Cell<u64>,
    background: Cell<bool>,
}

impl<S> FairServer<S> {
    /// A server without a reservation or threads.
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

    /// Whether the server is in the background: its budget is depleted, or it has none.
    pub fn is_background(&self) -> bool {
        self.background.get()
    }

    /// Whether the server runs before another one in the background: its start tag is smaller.
    pub fn precedes(&self, other: &Self) -> bool {
        self.start_tag.get() < other.start_tag.get()
    }
}

impl<S> Default for FairServer<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to a server of threads.
pub trait HasFairServer: HasServer {
    /// The state of the policy, which contains [`HasServer::server`].
    fn fair_server(&self) -> &FairServer<Self>;
}

/// A server in the list of reservations.
#[derive(Clone, Copy)]
struct Reserved<S>(S);

impl<S: HasFairServer> Linked for Reserved<S> {
    fn link(&self) -> &Link<Self> {
        &self.0.fair_server().reserved
    }
}

/// The servers of a core, on top of a [`FixedPriorityScheduler`](crate::FixedPriorityScheduler)
/// that takes its priorities from them.
///
/// - **Foreground**: while budget remains, a server's thread has the priority of its period: the
///   shorter, the more urgent (rate-monotonic: Liu and Layland, 1973). Budgets are those of
///   deferrable servers, as with [`Policy::Reserved`].
/// - **Background**: without budget, a thread runs when the foreground is idle. The server with the
///   smallest start tag runs next, for a time slice (start-time fair queueing: Goyal, Guo and Vin,
///   1996). Of two servers that are ready all the time, neither receives more than two slices more
///   than the other.
///
/// The caller calls [`update`](FairServers::update) before each scheduling decision and at the time
/// that [`next_update`](FairServers::next_update) returns, calls
/// [`set_running`](FairServers::set_running) after the decision, and calls
/// [`enter_background`](FairServers::enter_background) before a thread becomes ready in the
/// background. Threads are [ordered](crate::Schedulable::precedes) within a priority by their
/// servers.
pub struct FairServers<S> {
    /// The servers with a reservation, the longest period first.
    reserved: List<Reserved<S>>,
    awaiting_budget: List<AwaitingBudget<S>>,
    current: Cell<Option<S>>,
    charged: Cell<u64>,
    /// Virtual time of the background: the least start tag of a server that enters it.
    virtual_time: Cell<u64>,
    /// Whether a contended time slice is over.
    slice_over: Cell<bool>,
    slice: Cell<u64>,
}

impl<S> FairServers<S> {
    /// A core without servers; all fields are zero.
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

    /// Sets the length of a background time slice in ticks.
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
    /// Adds a server with a first period from `now` on; without a reservation it stays in the
    /// background. The caller then assigns all [`ranks`](FairServers::ranks) anew.
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

    /// Removes a server.
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

    /// The servers with a reservation and their rate-monotonic ranks from 0: the shorter the
    /// period, the higher. Equal periods have one rank.
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

    /// Admission test: whether all reservations including `more` are schedulable. The response time
    /// of each budget must be within its period while all of equal or higher rank consume theirs as
    /// densely as deferrable servers can. A response time that is not found within a bounded number
    /// of steps is rejected.
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

    /// Charges the running server and assigns tags to one that becomes ready in the
    /// background. `contended` as for [`update`](FairServers::update).
    pub fn enter_background(&self, item: S, now: u64, contended: bool) {
        self.charge(now, contended);
        self.assign_tags(item);
    }

    /// Assigns start and finish tags to a server that enters the background, for a whole time
    /// slice.
    pub fn assign_tags(&self, item: S) {
        let fair = item.fair_server();
        let finish_tag = fair.finish_tag.get().max(self.virtual_time.get());
        fair.finish_tag.set(finish_tag);
        fair.start_tag.set(finish_tag);
    }

    /// Updates all servers to `now`: charges the running one, moves each replenished server to the
    /// foreground and a depleted one to the background; `moves` sets the priorities. `contended`
    /// tells whether others are ready in the background while the running server is there.
    pub fn update(&self, now: u64, contended: bool, moves: impl Fn(S, bool)) {
        self.charge(now, contended);
        while let Some(AwaitingBudget(item)) = self.awaiting_budget.first()
            && item.server().period_end() <= now
        {
            self.awaiting_budget.pop();
            item.server().replenish(item, now);
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

    /// Whether the last update ended a time slice: the caller then ends that of the running thread
    /// in the scheduler.
    pub fn slice_ended(&self) -> bool {
        let current = self.current.get();
        self.slice_over.take()
            && current.is_some_and(|current| current.fair_server().is_background())
    }

    /// Sets the server of the running thread, if any, from the time of the last update on.
    pub fn set_running(&self, item: Option<S>) {
        self.current.set(item);
        if let Some(item) = item.filter(|item| item.fair_server().is_background()) {
            self.advance_virtual_time(item.fair_server().start_tag.get());
        }
    }

    /// When the next update is due without a wake-up or block.
    pub fn next_update(&self, contended: bool) -> Option<u64> {
        let now = self.charged.get();
        let next = self
            .awaiting_budget
            .first()
            .map(|AwaitingBudget(item)| item.server().period_end());
        let own = self.current.get().and_then(|current| {
            let fair = current.fair_server();
            if !fair.is_background() {
                return Some(fair.server.start_running(current, now));
            }
            let left = self.slice.get() - (fair.finish_tag.get() - fair.start_tag.get());
            contended.then_some(now + left)
        });
        let until = next.into_iter().chain(own).min();
        until.filter(|&until| until != u64::MAX)
    }

    /// Charges the running server up to `now`.
    fn charge(&self, now: u64, contended: bool) {
        let ran = now.saturating_sub(self.charged.replace(now));
        let Some(current) = self.current.get() else {
            return;
        };
        let fair = current.fair_server();
        if !fair.is_background() {
            return fair.server.charge(current, ran, now);
        }
        fair.finish_tag.set(fair.finish_tag.get() + ran);
        let used = fair.finish_tag.get() - fair.start_tag.get();
        if used >= self.slice.get() {
            // The excess belongs to the next slice. An uncontended server may have used several.
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

/// Iterations within which a response time must be found.
const STEPS: usize = 64;
