//! Scheduling entities of the reservation scheduler: run key, queue membership, budget.

use crate::{HasServer, Policy, Priority, Server};
use core::cell::Cell;
use core_list::{Link, Linked};

/// The order of ready entities: the smaller key runs first. Keys are twice the inverted priority;
/// without a deadline one more, so that entities with a deadline precede their peers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunKey(u8);

impl RunKey {
    /// The last key: priority 0, without a deadline.
    pub(crate) const BACKGROUND: Self = Self(2 * Priority::HIGHEST.number() + 1);

    /// The key of a priority. In the background all share by time slices, whatever their deadlines.
    const fn of(priority: Priority, by_deadline: bool) -> Self {
        let own = 2 * (Priority::HIGHEST.number() - priority.number()) + 1;
        Self(own - (by_deadline && own < Self::BACKGROUND.0) as u8)
    }

    /// The priority of the key.
    const fn priority(self) -> Priority {
        Priority::new(Priority::HIGHEST.number() - self.0 / 2)
    }

    /// Whether entities with this key are ordered by deadline.
    #[inline(always)]
    const fn has_deadline(self) -> bool {
        self.0 & 1 == 0
    }

    /// Whether the priority is at least that of `other`.
    #[inline(always)]
    pub(crate) const fn is_as_urgent_as(self, other: Self) -> bool {
        self.0 <= other.0 | 1
    }
}

/// Per-entity state of a [`ReservationScheduler`](crate::ReservationScheduler).
pub struct SchedEntity<S> {
    /// The reservation and its remaining budget.
    pub server: Server<S>,
    link: Link<Ready<S>>,
    /// The current key: the base key, or the background while the entity is demoted.
    key: Cell<RunKey>,
    base_key: Cell<RunKey>,
    /// The lists that contain the entity.
    membership: Cell<QueueMembership>,
}

/// The lists that contain an entity: one bit for the ready list, one for the list of depleted
/// budgets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueMembership(u8);

impl QueueMembership {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const READY: Self = Self(1);
    pub(crate) const DEPLETED: Self = Self(2);
    pub(crate) const BOTH: Self = Self(3);
}

impl<S> SchedEntity<S> {
    /// A blocked entity without a policy.
    pub const fn new() -> Self {
        Self {
            server: Server::new(),
            link: Link::new(),
            key: Cell::new(RunKey::BACKGROUND),
            base_key: Cell::new(RunKey::BACKGROUND),
            membership: Cell::new(QueueMembership::NONE),
        }
    }

    /// Sets priority and policy of an entity that is not ready, and starts its first period at
    /// `now`.
    pub fn begin(&self, priority: Priority, policy: Policy, now: u64) {
        let own = RunKey::of(priority, matches!(policy, Policy::Deadline(_)));
        self.base_key.set(own);
        self.key.set(own);
        self.server.start(policy, now);
    }

    /// Whether the entity is running or ready.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        self.membership.get().0 & QueueMembership::READY.0 != 0
    }

    /// The current priority.
    #[inline(always)]
    pub fn priority(&self) -> Priority {
        self.key.get().priority()
    }

    /// Whether the entity is in the background, by its priority or because its budget is depleted.
    #[inline(always)]
    pub fn is_background(&self) -> bool {
        self.key.get() == RunKey::BACKGROUND
    }

    /// Whether the budget is depleted and its replenishment pending.
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

    /// Moves the entity to the background.
    #[inline(always)]
    pub(crate) fn demote(&self) {
        self.key.set(RunKey::BACKGROUND);
    }

    /// Restores the base key; returns whether the entity was demoted.
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

/// A reference to an entity of a shared core, such as a vCPU.
pub trait HasSchedEntity: HasServer {
    /// The scheduler's state, which contains [`HasServer::server`].
    fn entity(&self) -> &SchedEntity<Self>;

    /// Called when the entity is demoted to the background, and when its priority is restored.
    #[inline(always)]
    fn background_changed(&self, _background: bool) {}
}

/// An entity in the ready list.
#[derive(Clone, Copy)]
pub(crate) struct Ready<S>(pub(crate) S);

impl<S: HasSchedEntity> Ready<S> {
    /// Whether the entity runs before another that became ready earlier.
    #[inline(always)]
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        let (own, its) = (self.0.entity().key(), other.0.entity().key());
        let (one, another) = (self.0.server(), other.0.server());
        let by_deadline = || own.has_deadline() && one.has_earlier_deadline(another);
        own < its || own == its && by_deadline()
    }
}

impl<S: HasSchedEntity> Linked for Ready<S> {
    fn link(&self) -> &Link<Self> {
        &self.0.entity().link
    }
}
