//! The fixed-priority scheduler: the running entity and the scheduling decision.

use crate::{Priority, RunQueue, Schedulable};
use core::cell::Cell;

/// The cause of a scheduling decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A more urgent entity may have become ready.
    Preemption,
    /// The running entity blocked.
    Blocking,
    /// The running entity yields to its peers.
    Yielding,
}

/// The fixed-priority preemptive scheduler of one core.
///
/// The running entity stays at the head of its level in the run queue: preemption does not change
/// its place among its peers, and yielding is one rotation.
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
    // A preemption reads these two together.
    current: Cell<Option<S>>,
    /// The highest entity of the queue, if it is not the running one: it is more urgent, or the
    /// running entity's time slice ended. This is the paper's "rescheduling needed", together with
    /// its target.
    candidate: Cell<Option<S>>,
    /// An entity becomes the candidate above this priority: that of the candidate or, without one,
    /// of the running entity.
    preemption_threshold: Cell<Priority>,
}

impl<S> FixedPriorityScheduler<S> {
    /// A scheduler without entities.
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
    /// Offset of the candidate, for assembly that tests
    /// [`needs_reschedule`](FixedPriorityScheduler::needs_reschedule): a word, zero without a
    /// candidate.
    pub const CANDIDATE: usize = core::mem::offset_of!(Self, candidate);

    /// Sets the running entity: the context in which this core started.
    pub fn start(&self, running: S) {
        self.queue.insert_first(running);
        self.current.set(Some(running));
        self.update_candidate();
    }

    /// The running entity.
    pub fn current(&self) -> Option<S> {
        self.current.get()
    }

    /// The priority above which an entity that becomes ready preempts.
    pub fn preemption_threshold(&self) -> Priority {
        self.preemption_threshold.get()
    }

    /// Whether another entity should run instead of the running one.
    pub fn needs_reschedule(&self) -> bool {
        self.candidate.get().is_some()
    }

    /// Makes an entity ready, as the last of its priority.
    pub fn wake(&self, item: S) {
        self.queue.insert(item);
        let priority = item.state().priority();
        if priority > self.preemption_threshold.get() {
            self.preemption_threshold.set(priority);
            self.candidate.set(Some(item));
        }
    }

    /// Makes an entity not ready. If it is the running one, [`next`](FixedPriorityScheduler::next)
    /// must follow.
    pub fn block(&self, item: S) {
        self.queue.remove(item);
        if self.candidate.get().is_some_and(|other| other.is(&item)) {
            self.update_candidate();
        }
    }

    /// Changes a priority. A ready entity becomes the last of its new priority, the running one the
    /// first.
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

    /// Ends the time slice of the running entity, which becomes the last of its priority.
    /// [`next`](FixedPriorityScheduler::next) for [`Reason::Preemption`] then selects the first of
    /// its peers.
    pub fn end_slice(&self) {
        let current = self.current.get();
        if let Some(current) = current.filter(|current| current.state().is_ready()) {
            self.queue.remove(current);
            self.queue.insert(current);
            self.update_candidate();
        }
    }

    /// Whether the running entity has ready peers of its priority.
    pub fn has_peers(&self) -> bool {
        let current = self.current.get();
        current.is_some_and(|current| current.state().is_ready() && current.has_neighbours())
    }

    /// Recomputes the candidate and the threshold.
    fn update_candidate(&self) {
        let Some(current) = self.current.get() else {
            return;
        };
        let own = current.state().priority();
        let highest = self.queue.highest();
        let candidate = highest.filter(|highest| {
            let priority = highest.state().priority();
            // A running entity that blocked is replaced by `next`.
            priority > own || priority == own && current.state().is_ready() && !highest.is(&current)
        });
        self.candidate.set(candidate);
        self.preemption_threshold
            .set(candidate.map_or(own, |candidate| candidate.state().priority()));
    }

    /// The decision of [`next`](FixedPriorityScheduler::next) for a yield. Unless a more urgent
    /// entity is ready, the running entity is the first of the highest level, and its successor
    /// runs next.
    #[inline(always)]
    pub fn yield_current(&self) -> Option<S> {
        let previous = self.current.get()?;
        // With an order, the yielding entity is not always inserted last.
        if self.needs_reschedule() || S::is_ordered() {
            return self.next(Reason::Yielding);
        }
        let next = self.queue.rotate(previous.state().priority())?;
        self.current.set(Some(next));
        (!next.is(&previous)).then_some(next)
    }

    /// The scheduling decision, Algorithm 1 of the paper: the entity to switch to, `None` to
    /// continue.
    ///
    /// At least one entity must be ready, such as an idle thread: an entity that blocked while no
    /// other was ready would return behind its peers and then yield in their place.
    ///
    /// The caller masks interrupts around the call and performs the paper's `Context switch (prev,
    /// next)`; `next` is the running entity from here on. The paper's "preemption enabled" is a
    /// lock count of each entity, so that a cooperative system is one with threads that start locked.
    /// One difference from the paper: a locked thread that yields while a more urgent entity is
    /// ready gives way, because a cooperative system would starve otherwise.
    #[inline(always)]
    pub fn next(&self, reason: Reason) -> Option<S> {
        let previous = self.current.get()?;
        let next = match reason {
            Reason::Preemption if previous.state().is_locked() => return None,
            // The candidate is the highest entity, and the threshold is its priority already.
            Reason::Preemption => self.candidate.get()?,
            Reason::Blocking | Reason::Yielding => {
                if reason == Reason::Yielding {
                    // It is not the first of its level if its time slice ended.
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
