//! What somebody has of a core that several share: how urgent it is, and where it stands.

use crate::{HasServer, Policy, Priority, Server};
use core::cell::Cell;
use core_list::{Link, Linked};

/// The order of those that could run: who has the smaller one goes first. Twice the levels above, and
/// one more without a deadline, as who has one goes before its peers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunKey(u8);

impl RunKey {
    /// The last one.
    pub(crate) const BACKGROUND: Self = Self(2 * Priority::HIGHEST.number() + 1);

    /// In the background all take turns, whatever their deadlines.
    const fn of(priority: Priority, by_deadline: bool) -> Self {
        let own = 2 * (Priority::HIGHEST.number() - priority.number()) + 1;
        Self(own - (by_deadline && own < Self::BACKGROUND.0) as u8)
    }

    /// The priority that it is of.
    const fn priority(self) -> Priority {
        Priority::new(Priority::HIGHEST.number() - self.0 / 2)
    }

    /// Whether a deadline orders it among those that have the same.
    #[inline(always)]
    const fn has_deadline(self) -> bool {
        self.0 & 1 == 0
    }

    /// Whether it is of as urgent a priority, at least.
    #[inline(always)]
    pub(crate) const fn is_as_urgent_as(self, other: Self) -> bool {
        self.0 <= other.0 | 1
    }
}

/// What [`ReservationScheduler`](crate::ReservationScheduler) keep inside each entity.
pub struct SchedEntity<S> {
    /// Its reservation, and what is left of it.
    pub server: Server<S>,
    link: Link<Ready<S>>,
    /// Where it stands: its own place, or in the background meanwhile.
    key: Cell<RunKey>,
    base_key: Cell<RunKey>,
    /// Among whom it is.
    membership: Cell<QueueMembership>,
}

/// Where an entity is linked: a bit for those that could run, one for those whose budget is used up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueMembership(u8);

impl QueueMembership {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const READY: Self = Self(1);
    pub(crate) const DEPLETED: Self = Self(2);
    pub(crate) const BOTH: Self = Self(3);
}

impl<S> SchedEntity<S> {
    /// That of an entity whose life has not begun.
    pub const fn new() -> Self {
        Self {
            server: Server::new(),
            link: Link::new(),
            key: Cell::new(RunKey::BACKGROUND),
            base_key: Cell::new(RunKey::BACKGROUND),
            membership: Cell::new(QueueMembership::NONE),
        }
    }

    /// For a life to begin at `now`, of an entity that is not ready: the first period begins too.
    pub fn begin(&self, priority: Priority, policy: Policy, now: u64) {
        let own = RunKey::of(priority, matches!(policy, Policy::Deadline(_)));
        self.base_key.set(own);
        self.key.set(own);
        self.server.start(policy, now);
    }

    /// Whether it runs or could run.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        self.membership.get().0 & QueueMembership::READY.0 != 0
    }

    /// The priority that it has now.
    #[inline(always)]
    pub fn priority(&self) -> Priority {
        self.key.get().priority()
    }

    /// Whether it is in the background: that is its priority, or its budget is used up.
    #[inline(always)]
    pub fn is_background(&self) -> bool {
        self.key.get() == RunKey::BACKGROUND
    }

    /// Whether its budget is used up, and the next one awaited.
    #[inline(always)]
    pub(crate) fn is_awaiting_budget(&self) -> bool {
        self.membership.get().0 & QueueMembership::DEPLETED.0 != 0
    }

    #[inline(always)]
    pub(crate) fn set_membership(&self, membership: QueueMembership) {
        self.membership.set(membership);
    }

    #[inline(always)]
    pub(crate) fn key(&self) -> RunKey {
        self.key.get()
    }

    #[inline(always)]
    pub(crate) fn base_key(&self) -> RunKey {
        self.base_key.get()
    }

    /// Has it go on in the background.
    #[inline(always)]
    pub(crate) fn demote(&self) {
        self.key.set(RunKey::BACKGROUND);
    }

    /// Has it stand where it is by itself; whether it stood elsewhere.
    #[inline(always)]
    pub(crate) fn restore_priority(&self) -> bool {
        self.key.replace(self.base_key.get()) != self.base_key.get()
    }
}

impl<S> Default for SchedEntity<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to an entity of a core that is shared, like a vCPU.
pub trait HasSchedEntity: HasServer {
    /// The part of it that keeps its claim, which its [`HasServer::server`] is in as well.
    fn entity(&self) -> &SchedEntity<Self>;

    /// Hears that it falls behind without a budget, or has one again.
    #[inline(always)]
    fn background_changed(&self, _background: bool) {}
}

/// One among those that could run.
#[derive(Clone, Copy)]
pub(crate) struct Ready<S>(pub(crate) S);

impl<S: HasSchedEntity> Ready<S> {
    /// Whether it goes before another one that came earlier.
    #[inline(always)]
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        let (own, its) = (self.0.entity().key(), other.0.entity().key());
        let by_deadline =
            || own.has_deadline() && self.0.server().period_end() < other.0.server().period_end();
        own < its || own == its && by_deadline()
    }
}

impl<S: HasSchedEntity> Linked for Ready<S> {
    fn link(&self) -> &Link<Self> {
        &self.0.entity().link
    }
}
