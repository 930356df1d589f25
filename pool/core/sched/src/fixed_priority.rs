//! Who runs, and who runs next.

use crate::{Priority, RunQueue, Schedulable};
use core::cell::Cell;

/// Why the scheduler is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody more urgent may have become ready.
    Preemption,
    /// The current one is not ready any more.
    Blocking,
    /// The current one lets its peers have their turns.
    Yielding,
}

/// The scheduler of one core.
///
/// The current one stays in the run queue while it is ready, at the head of its level: being
/// preempted costs it no turn, and yielding is one rotation.
///
/// ```
/// use core_list::{Link, Linked};
/// use core_sched::{Priority, Reason, Schedulable, FixedPriorityScheduler, State};
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
/// let scheduler = FixedPriorityScheduler::new();
/// scheduler.start(&idle);
/// scheduler.wake(&control);
/// assert!(scheduler.next(Reason::Preemption).is_some_and(|next| std::ptr::eq(next, &control)));
/// ```
pub struct FixedPriorityScheduler<S> {
    queue: RunQueue<S>,
    // These two are read together by each preemption.
    current: Cell<Option<S>>,
    /// The highest of the queue while that is not the current one, as it is more urgent or the
    /// current one's turn is over: the paper's "rescheduling needed", which thereby knows whom for.
    candidate: Cell<Option<S>>,
    /// Above this priority one becomes the candidate: it is that of the candidate or, without one,
    /// of the current one.
    preemption_threshold: Cell<Priority>,
}

impl<S> FixedPriorityScheduler<S> {
    /// A scheduler of nothing.
    pub const fn new() -> Self {
        Self {
            queue: RunQueue::new(),
            current: Cell::new(None),
            candidate: Cell::new(None),
            preemption_threshold: Cell::new(Priority::LOWEST),
        }
    }
}

impl<S> Default for FixedPriorityScheduler<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Schedulable> FixedPriorityScheduler<S> {
    /// Where the candidate is, for who asks [`needs_reschedule`](FixedPriorityScheduler::needs_reschedule) in assembly: a word,
    /// zero without one.
    pub const CANDIDATE: usize = core::mem::offset_of!(Self, candidate);

    /// Declares who is running: the context this core started in.
    pub fn start(&self, running: S) {
        self.queue.insert_first(running);
        self.current.set(Some(running));
        self.update_candidate();
    }

    /// Who runs.
    pub fn current(&self) -> Option<S> {
        self.current.get()
    }

    /// Who becomes ready has to be more urgent than this to run next.
    pub fn preemption_threshold(&self) -> Priority {
        self.preemption_threshold.get()
    }

    /// Whether somebody else should run than the current one.
    pub fn needs_reschedule(&self) -> bool {
        self.candidate.get().is_some()
    }

    /// Makes somebody ready, behind those of the same priority.
    pub fn wake(&self, item: S) {
        self.queue.insert(item);
        let priority = item.state().priority();
        if priority > self.preemption_threshold.get() {
            self.preemption_threshold.set(priority);
            self.candidate.set(Some(item));
        }
    }

    /// Makes somebody not ready; if it is the current one, [`next`](FixedPriorityScheduler::next) must follow.
    pub fn block(&self, item: S) {
        self.queue.remove(item);
        if self.candidate.get().is_some_and(|other| other.is(&item)) {
            self.update_candidate();
        }
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
        self.update_candidate();
    }

    /// Ends the turn of the current one, which has the last place among its peers from here on: time
    /// slicing. [`next`](FixedPriorityScheduler::next) for [`Reason::Preemption`] then finds the first of them.
    pub fn end_slice(&self) {
        let current = self.current.get();
        if let Some(current) = current.filter(|current| current.state().is_ready()) {
            self.queue.remove(current);
            self.queue.insert(current);
            self.update_candidate();
        }
    }

    /// Whether the current one has peers that are ready.
    pub fn has_peers(&self) -> bool {
        let current = self.current.get();
        current.is_some_and(|current| current.state().is_ready() && current.has_neighbours())
    }

    /// Finds the candidate anew.
    fn update_candidate(&self) {
        let Some(current) = self.current.get() else {
            return;
        };
        let own = current.state().priority();
        let highest = self.queue.highest();
        let candidate = highest.filter(|highest| {
            let priority = highest.state().priority();
            // One that is not ready gives way by `next`.
            priority > own || priority == own && current.state().is_ready() && !highest.is(&current)
        });
        self.candidate.set(candidate);
        self.preemption_threshold
            .set(candidate.map_or(own, |candidate| candidate.state().priority()));
    }

    /// [`next`](FixedPriorityScheduler::next) of a current one that yields. As long as nobody more urgent is
    /// ready, it is the first of the highest level, so that its neighbour follows it.
    #[inline(always)]
    pub fn yield_current(&self) -> Option<S> {
        let previous = self.current.get()?;
        // With an order, its place is not always the last one.
        if self.needs_reschedule() || S::is_ordered() {
            return self.next(Reason::Yielding);
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
    /// current one. The paper's "preemption enabled" is each one's own lock, so that a cooperative
    /// system is one whose threads begin locked. One thing differs from the paper: a thread that
    /// yields while somebody more urgent is ready gives way even when it is locked, or a
    /// cooperative system would starve.
    #[inline(always)]
    pub fn next(&self, reason: Reason) -> Option<S> {
        let previous = self.current.get()?;
        let next = match reason {
            Reason::Preemption if previous.state().is_locked() => return None,
            // The candidate is the highest of all, and its priority the bar already.
            Reason::Preemption => self.candidate.get()?,
            Reason::Blocking | Reason::Yielding => {
                if reason == Reason::Yielding {
                    // Not the first of its level any more if its turn was over.
                    self.queue.remove(previous);
                    self.queue.insert(previous);
                }
                let next = self.queue.highest()?;
                self.preemption_threshold.set(next.state().priority());
                next
            }
        };
        self.candidate.set(None);
        self.current.set(Some(next));
        (!next.is(&previous)).then_some(next)
    }
}
