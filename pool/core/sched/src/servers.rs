//! Servers: a budget in each period for threads, rate-monotonic, and the rest shared fairly.

use crate::policy::Spent;
use crate::{Entity, Policy, Reservation, Server};
use core::cell::Cell;
use core_list::{Link, Linked, List};

#[cfg(test)]
mod guarantees;
#[cfg(test)]
mod model;

/// What the policy keeps inside each server.
pub struct Account<S> {
    /// Its reservation, and what is left of it.
    pub server: Server<S>,
    reservation: Cell<Option<Reservation>>,
    peer: Link<Peer<S>>,
    /// How much of the background it has had, in ticks. Who was not there is taken to have had what
    /// others had, so that nobody claims the past.
    had: Cell<u64>,
    /// The same at the begin of its turn, by which it waits for that and has it.
    place: Cell<u64>,
    behind: Cell<bool>,
}

impl<S> Account<S> {
    /// That of a server that serves nobody.
    pub const fn new() -> Self {
        Self {
            server: Server::new(),
            reservation: Cell::new(None),
            peer: Link::new(),
            had: Cell::new(0),
            place: Cell::new(0),
            behind: Cell::new(false),
        }
    }

    /// Whether it is in the background: its budget is used up, or it has none.
    pub fn is_behind(&self) -> bool {
        self.behind.get()
    }

    /// Whether it comes before another one in the background: it has had less.
    pub fn precedes(&self, other: &Self) -> bool {
        self.place.get() < other.place.get()
    }
}

impl<S> Default for Account<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to a server.
pub trait Served: Entity {
    /// The policy's part of it, which its [`Entity::server`] is in as well.
    fn account(&self) -> &Account<Self>;
}

/// A server among those with a reservation.
#[derive(Clone, Copy)]
struct Peer<S>(S);

impl<S: Served> Linked for Peer<S> {
    fn link(&self) -> &Link<Self> {
        &self.0.account().peer
    }
}

/// The policy of a core whose threads have servers: over a [`Scheduler`](crate::Scheduler), whose
/// priorities it gives.
///
/// - **In the foreground**, as long as it has budget, a server's thread has the priority that its
///   period gives it: the shorter, the more urgent (Liu and Layland, 1973). Budgets are those of
///   deferrable servers, as with [`Policy::Reserved`].
/// - **In the background**, without budget, it has what nobody in the foreground wants. Whoever has
///   had least is next, for a turn (start-time fair queueing: Goyal, Guo and Vin, 1996): of two that
///   want to run all the while, neither gets more than two turns more than the other.
///
/// The caller asks to [`settle`](Servers::settle) before each decision of the scheduler and at the
/// time that [`until`](Servers::until) says, tells who [runs](Servers::run) after it, and lets
/// whoever gets ready in the background [join](Servers::join) first. Its threads are
/// [ordered](crate::Schedulable::precedes) within a priority by their accounts.
pub struct Servers<S> {
    /// The longest period first.
    peers: List<Peer<S>>,
    spent: List<Spent<S>>,
    current: Cell<Option<S>>,
    charged: Cell<u64>,
    /// What nobody who joins the background has had less than.
    level: Cell<u64>,
    /// Whether a turn is over whose end others wait for.
    over: Cell<bool>,
    slice: Cell<u64>,
}

impl<S> Servers<S> {
    /// A core without servers; all of it is zero.
    pub const fn new() -> Self {
        Self {
            peers: List::new(),
            spent: List::new(),
            current: Cell::new(None),
            charged: Cell::new(0),
            level: Cell::new(0),
            over: Cell::new(false),
            slice: Cell::new(0),
        }
    }

    /// Lets turns in the background last so many ticks.
    pub fn set_slice(&self, slice: u64) {
        self.slice.set(slice);
    }
}

impl<S> Default for Servers<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Served> Servers<S> {
    /// Adds a server whose first period begins at `now`; without a reservation it is in the
    /// background for good. The caller gives all [`ranks`](Servers::ranks) anew.
    pub fn attach(&self, item: S, reservation: Option<Reservation>, now: u64) {
        let account = item.account();
        account.reservation.set(reservation);
        account.had.set(0);
        account.behind.set(reservation.is_none());
        let policy = reservation.map_or(Policy::Fixed, Policy::Reserved);
        account.server.start(policy, now);
        match reservation {
            None => self.enter(item),
            Some(own) => self.peers.insert(Peer(item), |_, other| {
                let period = other.0.account().reservation.get().map(|own| own.period());
                period.is_some_and(|period| own.period() > period)
            }),
        }
    }

    /// Takes a server away.
    pub fn detach(&self, item: S) {
        self.peers.remove(Peer(item));
        self.spent.remove(Spent(item));
        if self
            .current
            .get()
            .is_some_and(|current| Peer(current).is(&Peer(item)))
        {
            self.current.set(None);
        }
    }

    /// The servers with a reservation and the rank of each among their periods, from 0 on: the
    /// shorter the period, the higher; equal periods have one rank.
    pub fn ranks(&self) -> impl Iterator<Item = (S, usize)> {
        let mut last = None;
        let mut rank = 0;
        self.peers.iter().map(move |Peer(item)| {
            let period = item.account().reservation.get().map(|own| own.period());
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
            let own = self.peers.iter();
            let own = own.filter_map(|Peer(item)| item.account().reservation.get());
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

    /// Somebody is about to be ready in the background; `awaited` as for
    /// [`settle`](Servers::settle).
    pub fn join(&self, item: S, now: u64, awaited: bool) {
        self.charge(now, awaited);
        self.enter(item);
    }

    /// Gives somebody its place among those that wait for their turn: a whole one.
    pub fn enter(&self, item: S) {
        let account = item.account();
        let had = account.had.get().max(self.level.get());
        account.had.set(had);
        account.place.set(had);
    }

    /// Brings all to `now`: who ran is charged, who has a new budget comes to the foreground, and
    /// who ran out of it goes to the background; `moves` gives them their priorities. `awaited` is
    /// whether others wait in the background for the end of the turn of who ran.
    pub fn settle(&self, now: u64, awaited: bool, moves: impl Fn(S, bool)) {
        self.charge(now, awaited);
        while let Some(Spent(item)) = self.spent.first()
            && item.server().end() <= now
        {
            self.spent.pop();
            item.server().replenish(now);
            item.account().behind.set(false);
            moves(item, true);
        }
        if let Some(current) = self.current.get()
            && current.server().is_exhausted()
            && !current.account().is_behind()
        {
            self.spent.insert(Spent(current), |one, other| {
                one.0.server().end() < other.0.server().end()
            });
            current.account().behind.set(true);
            self.enter(current);
            moves(current, false);
        }
    }

    /// Whether a turn ended with the last settlement: the caller ends that of who ran in the
    /// scheduler too.
    pub fn ends_turn(&self) -> bool {
        let current = self.current.get();
        self.over.take() && current.is_some_and(|current| current.account().is_behind())
    }

    /// From the time of the last settlement on `item` runs, or somebody without a server.
    pub fn run(&self, item: Option<S>) {
        self.current.set(item);
        if let Some(item) = item.filter(|item| item.account().is_behind()) {
            self.raise(item.account().place.get());
        }
    }

    /// When to settle, though nobody got ready or waited.
    pub fn until(&self, awaited: bool) -> Option<u64> {
        let now = self.charged.get();
        let next = self.spent.first().map(|Spent(item)| item.server().end());
        let own = self.current.get().and_then(|current| {
            let account = current.account();
            if !account.is_behind() {
                return Some(account.server.take_over(now));
            }
            let left = self.slice.get() - (account.had.get() - account.place.get());
            awaited.then_some(now + left)
        });
        let until = next.into_iter().chain(own).min();
        until.filter(|&until| until != u64::MAX)
    }

    /// Charges who ran until `now`.
    fn charge(&self, now: u64, awaited: bool) {
        let ran = now.saturating_sub(self.charged.replace(now));
        let Some(current) = self.current.get() else {
            return;
        };
        let account = current.account();
        if !account.is_behind() {
            return account.server.charge(ran, now);
        }
        account.had.set(account.had.get() + ran);
        let turn = account.had.get() - account.place.get();
        if turn >= self.slice.get() {
            // What is beyond a turn is of the next one. Alone it may have had any number of them.
            let rest = turn % self.slice.get();
            account.place.set(account.had.get() - rest);
            self.over.set(awaited);
            if !awaited {
                self.raise(account.place.get());
            }
        }
    }

    fn raise(&self, level: u64) {
        self.level.set(self.level.get().max(level));
    }
}

/// Steps within which a response time is to be found.
const STEPS: usize = 64;
