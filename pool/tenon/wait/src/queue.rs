//! Wait queues of synchronisation objects.

use crate::thread::Thread;
use crate::{WaitValue, Waking};
use core_sched::Priority;
use tenon_kernel::wait;

/// Threads that wait, the most urgent first.
#[derive(Default)]
#[repr(transparent)]
pub struct WaitQueue(pub(crate) wait::WaitQueue);

impl WaitQueue {
    /// An empty queue.
    pub const fn new() -> Self {
        Self(wait::WaitQueue::new())
    }

    /// Whether no thread waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The priority of the first thread; the lowest if the queue is empty.
    pub fn priority(&self) -> Priority {
        self.0.priority()
    }

    /// Wakes the first thread and returns it.
    #[inline(always)]
    pub fn wake(&self, waking: &Waking) -> Option<&'static Thread> {
        self.0.wake_in(waking.kernel()).map(Thread::of)
    }

    /// Wakes the first thread with this value. Returns whether there was one.
    #[inline(always)]
    pub fn wake_with_value(&self, waking: &Waking, value: WaitValue) -> bool {
        let woken = self.0.wake_in(waking.kernel());
        woken
            .inspect(|thread| thread.wait_value().set(value))
            .is_some()
    }

    /// Calls `answer` with the value of each thread, the most urgent first, and wakes the thread
    /// with the value that `answer` returns, if any.
    pub fn wake_each(&self, waking: &Waking, answer: impl FnMut(WaitValue) -> Option<WaitValue>) {
        self.0.wake_each(waking.kernel(), answer);
    }
}
