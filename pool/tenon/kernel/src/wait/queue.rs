//! Operations of wait queues.

use super::{WaitQueue, WaitValue};
use crate::kernel::Kernel;
use crate::kernel::assertions;
use crate::thread::Thread;
use core_sched::Priority;
use tenon_machine::object_lock::Guard;

/// The wait timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut;

impl WaitQueue {
    /// An empty queue.
    pub const fn new() -> Self {
        Self(core_list::List::new())
    }

    /// Whether no thread waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Blocks the current thread in this queue, and releases the object's lock meanwhile; at the
    /// latest until `deadline`, in nanoseconds.
    #[inline(always)]
    pub fn wait_in(
        &'static self,
        kernel: &Kernel,
        deadline: Option<u64>,
        guard: &Guard<'static>,
    ) -> Result<(), TimedOut> {
        let thread = kernel.current();
        if !kernel.limit_wait(thread, deadline) {
            return Err(TimedOut);
        }
        // It leaves the run queue first, as it can be in one list at a time.
        kernel.scheduler.block(thread);
        self.enqueue(thread);
        thread.set_queue_lock(Some(guard.object_lock()), false);
        guard.release();
        thread.wait_in_queue(kernel);
        guard.reacquire();
        thread.set_queue_lock(None, false);
        if thread.take_wait_timed_out() {
            return Err(TimedOut);
        }
        Ok(())
    }

    /// Calls `answer` with the value of each thread, the most urgent first, and wakes the thread
    /// with the value that `answer` returns, if any.
    pub fn wake_each(
        &self,
        kernel: &Kernel,
        mut answer: impl FnMut(WaitValue) -> Option<WaitValue>,
    ) {
        let mut next = self.0.first();
        while let Some(thread) = next {
            // Read before the thread moves to the run queue, by the same link.
            next = self.0.after(thread);
            if let Some(value) = answer(thread.wait_value().get()) {
                thread.wait_value().set(value);
                self.0.remove(thread);
                Self::end_wait(kernel, thread);
                thread.wake(kernel);
            }
        }
    }

    /// Wakes the first thread and returns it.
    #[inline(always)]
    pub fn wake_in(&self, kernel: &Kernel) -> Option<&'static Thread> {
        let thread = self.pop(kernel)?;
        thread.wake(kernel);
        Some(thread)
    }

    /// Removes the first thread and ends its wait without making it ready.
    #[inline(always)]
    pub fn pop(&self, kernel: &Kernel) -> Option<&'static Thread> {
        let thread = self.0.pop()?;
        Self::end_wait(kernel, thread);
        Some(thread)
    }

    #[inline(always)]
    fn end_wait(kernel: &Kernel, thread: &'static Thread) {
        thread.queue().set(None);
        // Otherwise its home core cancels the timer when it handles the request.
        if kernel.is_home_core_of(thread) {
            kernel.cancel_timer(thread.timer());
        }
    }

    /// Adds a thread that is in no list.
    #[inline(always)]
    pub fn enqueue(&'static self, thread: &'static Thread) {
        thread.queue().set(Some(self));
        self.join(thread);
    }

    /// The priority of the first thread; the lowest if the queue is empty.
    #[inline]
    pub fn priority(&self) -> Priority {
        let first = self.0.first();
        first.map_or(Priority::LOWEST, Thread::effective_priority)
    }

    /// Inserts a thread by its priority.
    pub(crate) fn join(&self, thread: &'static Thread) {
        assertions::check_unlinked(thread);
        self.0.insert(thread, |one, other| {
            one.effective_priority() > other.effective_priority()
        });
    }

    /// Removes a thread.
    pub(crate) fn leave(&self, thread: &'static Thread) {
        self.0.remove(thread);
    }
}
