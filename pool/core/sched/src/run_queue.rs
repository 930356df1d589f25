//! The run queue: one list per priority and one bit per list.

use core::cell::Cell;
use core_list::{Linked, List};

/// How urgent a schedulable is: the larger number runs first, as in POSIX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u8);

impl Priority {
    /// How many priorities there are: as many as one count-leading-zeros searches.
    pub const COUNT: usize = 64;
    /// The least urgent priority.
    pub const LOWEST: Self = Self(0);
    /// The most urgent priority.
    pub const HIGHEST: Self = Self(Self::COUNT as u8 - 1);

    /// The priority of that number; a number beyond the range is the nearest within.
    pub const fn new(number: u8) -> Self {
        if number < Self::HIGHEST.0 {
            Self(number)
        } else {
            Self::HIGHEST
        }
    }

    /// The priority so much more urgent, or less, and at most as far as there are priorities.
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

    /// Its number, 0 to 63.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The mask proves to the compiler what the constructor ensures, so that indexing is unchecked.
    const fn index(self) -> usize {
        self.0 as usize % Self::COUNT
    }
}

/// What the scheduler keeps inside each schedulable, beside its link.
#[derive(Debug)]
pub struct State {
    pub(crate) priority: Cell<Priority>,
    ready: Cell<bool>,
    locks: Cell<u32>,
}

impl State {
    /// The state of something that is not ready yet.
    pub const fn new(priority: Priority) -> Self {
        Self {
            priority: Cell::new(priority),
            ready: Cell::new(false),
            locks: Cell::new(0),
        }
    }

    /// The priority it is scheduled by.
    pub fn priority(&self) -> Priority {
        self.priority.get()
    }

    /// Changes the priority of something that is not ready.
    pub fn set_priority(&self, priority: Priority) {
        debug_assert!(!self.is_ready(), "it is in the list of its priority");
        self.priority.set(priority);
    }

    /// Whether it runs or could run.
    pub fn is_ready(&self) -> bool {
        self.ready.get()
    }

    /// For a life to begin: with one lock, to be kept, or none, whatever an earlier life left.
    pub fn begin(&self, locked: bool) {
        self.locks.set(locked.into());
    }

    /// Keeps it from being preempted until as many calls of [`unlock`](State::unlock).
    pub fn lock(&self) {
        self.locks.set(self.locks.get().saturating_add(1));
    }

    /// Takes back one [`lock`](State::lock).
    pub fn unlock(&self) {
        self.locks.set(self.locks.get().saturating_sub(1));
    }

    /// Whether it may not be preempted.
    pub fn is_locked(&self) -> bool {
        self.locks.get() != 0
    }
}

/// A reference to something that takes turns on a core: a thread, a vCPU.
pub trait Schedulable: Linked {
    /// The scheduler's part of it.
    fn state(&self) -> &State;

    /// Whether there is an order within a priority at all: without, who comes first is served first,
    /// and no time is taken to compare.
    #[inline(always)]
    fn is_ordered() -> bool {
        false
    }

    /// Whether it goes before another one of its priority that came earlier, where there is an order.
    #[inline(always)]
    fn precedes(&self, _other: &Self) -> bool {
        false
    }
}

/// All that is ready on a core, the running one included.
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

    /// Puts behind all others of its level that it does not precede; what is ready already stays
    /// where it is.
    #[inline(always)]
    pub fn insert(&self, item: S) {
        if S::is_ordered() {
            return self.insert_sorted(item, S::precedes);
        }
        self.insert_with(item, List::push);
    }

    /// Puts before all others of its level; what is ready already stays where it is.
    pub fn insert_first(&self, item: S) {
        self.insert_with(item, List::push_first);
    }

    /// Puts behind all others of its level that it does not come before; what is ready already
    /// stays where it is.
    pub fn insert_sorted(&self, item: S, comes_before: impl Fn(&S, &S) -> bool) {
        self.insert_with(item, |level, item| level.insert(item, comes_before));
    }

    fn insert_with(&self, item: S, push: impl FnOnce(&List<S>, S)) {
        if !item.state().is_ready() {
            self.enqueue(item, push);
        }
    }

    /// Puts in what is not ready.
    #[inline(always)]
    pub(crate) fn enqueue(&self, item: S, push: impl FnOnce(&List<S>, S)) {
        item.state().ready.set(true);
        let (level, bit) = self.level(item);
        push(level, item);
        self.occupied.set(self.occupied.get() | bit);
    }

    /// Takes out what no longer is ready.
    pub fn remove(&self, item: S) {
        if item.state().is_ready() {
            self.dequeue(item);
        }
    }

    /// Takes out what is ready.
    #[inline(always)]
    pub(crate) fn dequeue(&self, item: S) {
        item.state().ready.set(false);
        let (level, bit) = self.level(item);
        if level.remove(item) {
            self.occupied.set(self.occupied.get() & !bit);
        }
    }

    /// Puts the first one of this priority behind its peers; returns who is first then.
    pub fn rotate(&self, priority: Priority) -> Option<S> {
        self.levels[priority.index()].rotate()
    }

    /// The most urgent of all, the longest ready of its level.
    pub fn highest(&self) -> Option<S> {
        let level = self.occupied.get().checked_ilog2()?;
        self.levels[level as usize % Priority::COUNT].first()
    }
}
