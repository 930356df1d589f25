//! The run queue: one list per priority and one bit per list.

use core::cell::Cell;
use core_list::{Linked, List};

/// A priority: the larger number is more urgent, as in POSIX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u8);

impl Priority {
    /// The number of priorities: one bit of a word each.
    pub const COUNT: usize = 64;
    /// The least urgent priority.
    pub const LOWEST: Self = Self(0);
    /// The most urgent priority.
    pub const HIGHEST: Self = Self(Self::COUNT as u8 - 1);

    /// The priority of that number, limited to the range.
    pub const fn new(number: u8) -> Self {
        if number < Self::HIGHEST.0 {
            Self(number)
        } else {
            Self::HIGHEST
        }
    }

    /// The priority plus `difference`, limited to the range.
    ///
    /// ```
    /// use core_sched::Priority;
    /// assert_eq!(Priority::new(20).offset(-1), Priority::new(19));
    /// assert_eq!(Priority::HIGHEST.offset(1), Priority::HIGHEST);
    /// ```
    #[must_use]
    pub const fn offset(self, difference: i8) -> Self {
        Self::new(self.0.saturating_add_signed(difference))
    }

    /// The number, 0 to 63.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The number as an index. The remainder proves to the compiler that indexing needs no bounds
    /// check.
    const fn index(self) -> usize {
        self.0 as usize % Self::COUNT
    }
}

/// Per-entity state of the run queue, beside its link.
#[derive(Debug)]
pub struct State {
    pub(crate) priority: Cell<Priority>,
    ready: Cell<bool>,
    locks: Cell<u32>,
}

impl State {
    /// The state of a blocked entity.
    pub const fn new(priority: Priority) -> Self {
        Self {
            priority: Cell::new(priority),
            ready: Cell::new(false),
            locks: Cell::new(0),
        }
    }

    /// The current priority.
    pub fn priority(&self) -> Priority {
        self.priority.get()
    }

    /// Changes the priority of an entity that is not ready.
    pub fn set_priority(&self, priority: Priority) {
        debug_assert!(!self.is_ready(), "it is in the list of its priority");
        self.priority.set(priority);
    }

    /// Whether the entity is running or ready.
    pub fn is_ready(&self) -> bool {
        self.ready.get()
    }

    /// Resets the preemption lock count to one or zero, at the start of a thread.
    pub fn begin(&self, locked: bool) {
        self.locks.set(locked.into());
    }

    /// Disables preemption of the entity until as many calls of [`unlock`](State::unlock).
    pub fn lock(&self) {
        self.locks.set(self.locks.get().saturating_add(1));
    }

    /// Reverses one [`lock`](State::lock).
    pub fn unlock(&self) {
        self.locks.set(self.locks.get().saturating_sub(1));
    }

    /// Whether preemption is disabled.
    pub fn is_locked(&self) -> bool {
        self.locks.get() != 0
    }
}

/// A reference to a schedulable entity: a thread or a vCPU.
pub trait Schedulable: Linked {
    /// The run queue's state of the entity.
    fn state(&self) -> &State;

    /// Whether entities of one priority are ordered by [`precedes`](Self::precedes). Otherwise the
    /// order is first in, first out, and nothing is compared.
    #[inline(always)]
    fn is_ordered() -> bool {
        false
    }

    /// Whether the entity runs before another of its priority that became ready earlier.
    #[inline(always)]
    fn precedes(&self, _other: &Self) -> bool {
        false
    }
}

/// The ready entities of a core, including the running one.
pub struct RunQueue<S> {
    /// Bit `n` is set while level `n` is not empty.
    occupied: Cell<u64>,
    levels: [List<S>; Priority::COUNT],
}

impl<S> RunQueue<S> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            occupied: Cell::new(0),
            levels: [const { List::new() }; Priority::COUNT],
        }
    }
}

impl<S> Default for RunQueue<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Schedulable> RunQueue<S> {
    fn level(&self, item: S) -> (&List<S>, u64) {
        let level = item.state().priority().index();
        (&self.levels[level], 1 << level)
    }

    /// Appends an entity to its level, or inserts it by its order; an entity that is ready already
    /// keeps its place.
    #[inline(always)]
    pub fn insert(&self, item: S) {
        if S::is_ordered() {
            return self.insert_sorted(item, S::precedes);
        }
        self.insert_with(item, List::push);
    }

    /// Inserts an entity at the front of its level; an entity that is ready already keeps its
    /// place.
    pub fn insert_first(&self, item: S) {
        self.insert_with(item, List::push_first);
    }

    /// Inserts an entity after all others of its level that it does not precede; an entity that is
    /// ready already keeps its place.
    pub fn insert_sorted(&self, item: S, comes_before: impl Fn(&S, &S) -> bool) {
        self.insert_with(item, |level, item| level.insert(item, comes_before));
    }

    fn insert_with(&self, item: S, push: impl FnOnce(&List<S>, S)) {
        if !item.state().is_ready() {
            self.enqueue(item, push);
        }
    }

    /// Inserts an entity that is not ready.
    #[inline(always)]
    pub(crate) fn enqueue(&self, item: S, push: impl FnOnce(&List<S>, S)) {
        item.state().ready.set(true);
        let (level, bit) = self.level(item);
        push(level, item);
        self.occupied.set(self.occupied.get() | bit);
    }

    /// Removes an entity, if it is ready.
    pub fn remove(&self, item: S) {
        if item.state().is_ready() {
            self.dequeue(item);
        }
    }

    /// Removes an entity that is ready.
    #[inline(always)]
    pub(crate) fn dequeue(&self, item: S) {
        item.state().ready.set(false);
        let (level, bit) = self.level(item);
        if level.remove(item) {
            self.occupied.set(self.occupied.get() & !bit);
        }
    }

    /// Makes the first entity of a priority the last of its level; returns the new first one.
    pub fn rotate(&self, priority: Priority) -> Option<S> {
        self.levels[priority.index()].rotate()
    }

    /// The ready entity of the highest priority that has been ready longest.
    pub fn highest(&self) -> Option<S> {
        let level = self.occupied.get().checked_ilog2()?;
        self.levels[level as usize % Priority::COUNT].first()
    }
}
