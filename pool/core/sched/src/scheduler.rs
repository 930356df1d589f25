//! Who runs, and who runs next.

use crate::{Priority, RunQueue, Schedulable};
use core::cell::Cell;

/// The scheduler of one core.
///
/// The current one stays in the run queue while it is ready, at the head of its level: being
/// preempted costs it no turn, and yielding is one rotation.
///
/// ```
/// use core_list::{Link, Linked};
/// use core_sched::{Priority, Schedulable, Scheduler, State};
///
/// struct Thread<'a> {
///     link: Link<&'a Thread<'a>>,
///     state: State,
/// }
///
/// impl<'a> Linked for &'a Thread<'a> {
///     fn link(&self) -> &Link<Self> {
///         &self.link
///     }
/// }
///
/// impl<'a> Schedulable for &'a Thread<'a> {
///     fn state(&self) -> &State {
///         &self.state
///     }
/// }
///
/// let thread = |priority| Thread { link: Link::new(), state: State::new(Priority::new(priority)) };
/// let (idle, control) = (thread(0), thread(40));
/// let scheduler = Scheduler::new(true);
/// scheduler.start(&idle);
/// scheduler.wake(&control);
/// assert!(scheduler.next(false).is_some_and(|next| std::ptr::eq(next, &control)));
/// ```
pub struct Scheduler<S> {
    queue: RunQueue<S>,
    current: Cell<Option<S>>,
    needed: Cell<bool>,
    preemptive: bool,
}

impl<S> Scheduler<S> {
    /// A scheduler of nothing; without `preemptive`, only blocking and yielding give way.
    pub const fn new(preemptive: bool) -> Self {
        Self {
            queue: RunQueue::new(),
            current: Cell::new(None),
            needed: Cell::new(false),
            preemptive,
        }
    }
}

impl<S: Schedulable> Scheduler<S> {
    /// Where [`is_needed`](Scheduler::is_needed) is, for who asks in assembly: a byte, 0 or 1.
    pub const NEEDED: usize = core::mem::offset_of!(Self, needed);

    /// Declares who is running: the context this core started in.
    pub fn start(&self, running: S) {
        self.queue.insert_first(running);
        self.current.set(Some(running));
    }

    /// Who runs.
    pub fn current(&self) -> Option<S> {
        self.current.get()
    }

    /// Whether somebody more urgent than the current one became ready.
    pub fn is_needed(&self) -> bool {
        self.needed.get()
    }

    /// Makes somebody ready, behind those of the same priority.
    pub fn wake(&self, item: S) {
        self.queue.insert(item);
        let priority = item.state().priority();
        if self
            .current
            .get()
            .is_none_or(|current| priority > current.state().priority())
        {
            self.needed.set(true);
        }
    }

    /// Makes somebody not ready; if it is the current one, [`next`](Scheduler::next) must follow.
    pub fn block(&self, item: S) {
        self.queue.remove(item);
    }

    /// Changes a priority; a ready one goes behind its new peers, the current one before them.
    pub fn set_priority(&self, item: S, priority: Priority) {
        let ready = item.state().is_ready();
        self.queue.remove(item);
        item.state().priority.set(priority);
        let current = self.current.get().is_some_and(|current| current.is(&item));
        match (ready, current) {
            (true, true) => self.queue.insert_first(item),
            (true, false) => self.queue.insert(item),
            _ => {}
        }
        if let (Some(highest), Some(current)) = (self.queue.highest(), self.current.get()) {
            self.needed
                .set(highest.state().priority() > current.state().priority());
        }
    }

    /// [`next`](Scheduler::next) of a current one that yields. As long as nobody more urgent is
    /// ready, it is the first of the highest level, so that its neighbour follows it.
    #[inline(always)]
    pub fn give_way(&self) -> Option<S> {
        let previous = self.current.get()?;
        if self.needed.get() {
            return self.next(true);
        }
        let next = self.queue.rotate(previous.state().priority())?;
        self.current.set(Some(next));
        (!next.is(&previous)).then_some(next)
    }

    /// The scheduling decision, Algorithm 1 of the paper: whom to switch to, `None` to go on.
    ///
    /// Somebody must be ready, if only an idle thread: one that blocked with nobody to switch to
    /// would come back behind its peers and then yield in their place.
    ///
    /// The caller disabled interrupts before and enables them after; the switch itself, the
    /// paper's `Context switch (prev, next)`, is the caller's too. From here on `next` is the
    /// current one. One thing differs from the paper: a thread that yields while somebody more
    /// urgent is ready gives way even with preemption off, or a cooperative system would starve.
    pub fn next(&self, yielding: bool) -> Option<S> {
        let previous = self.current.get()?;
        let state = previous.state();
        let (ready, preempted) = (state.is_ready(), self.needed.get() && !yielding);
        if preempted && ready {
            if !self.preemptive || state.is_locked() {
                return None;
            }
        } else if ready {
            if !yielding {
                return None;
            }
            self.queue.rotate(state.priority());
        }
        // Preempted, not ready, yielding: all three end in the choice of the highest.
        let next = self.queue.highest()?;
        self.needed.set(false);
        if next.is(&previous) {
            return None;
        }
        self.current.set(Some(next));
        Some(next)
    }
}
