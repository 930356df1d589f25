//! The condition variable that guards and other languages' interfaces are made of.

use super::mutex::{Acquired, MutexError, RawMutex};
use super::{Guarded, PI_CHAIN_LOCK, WaitQueue};
use crate::kernel::Kernel;
use crate::time::Instant;
use core::cell::Cell;
use core_trace::Event;

struct State {
    waiters: WaitQueue,
    /// Whose owners wait; meaningless while nobody does.
    mutex: Cell<Option<&'static RawMutex>>,
}

// SAFETY: it is not `Sync`; threads reach it inside a `Guarded`, with interrupts masked.
unsafe impl Send for State {}

/// A condition variable without data and guard.
///
/// Guarantees: who is notified is given the mutex or stands in line for it at that moment, and runs
/// when it owns it, so that notifying many wakes one at a time. While nobody waits, notifying does
/// not call the scheduler. Notifying all takes one step for each who waits, with interrupts masked.
pub struct RawCondvar(Guarded<State>);

impl RawCondvar {
    /// A condition variable that nobody waits for.
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            waiters: WaitQueue::new(),
            mutex: Cell::new(None),
        }))
    }

    /// Unlocks `mutex`, the calling thread's, waits to be notified, at the latest until `deadline`,
    /// and locks it again. Also after [`MutexError::TimedOut`] the calling thread owns it; after any
    /// other error it does not, [`MutexError::OtherMutex`] aside, which changes nothing.
    pub fn wait(
        &'static self,
        mutex: &'static RawMutex,
        deadline: Option<Instant>,
    ) -> Result<Acquired, MutexError> {
        self.wait_unless(mutex, deadline, || false)
    }

    /// As [`wait`](Self::wait), but its time counts as over if `over` says so, which is asked with
    /// interrupts masked: nothing comes between that and the wait.
    pub fn wait_unless(
        &'static self,
        mutex: &'static RawMutex,
        deadline: Option<Instant>,
        over: impl FnOnce() -> bool,
    ) -> Result<Acquired, MutexError> {
        Kernel::with_blocking(|kernel| {
            if over() && mutex.is_owned_by(kernel, kernel.current()) {
                return Err(MutexError::TimedOut);
            }
            self.wait_in(kernel, mutex, deadline)
        })
    }

    /// Notifies the first who waits. Also from an interrupt handler.
    #[inline(always)]
    pub fn notify_one(&self) {
        if self.has_waiters() {
            self.notify(1);
        }
    }

    /// Notifies all who wait. Also from an interrupt handler.
    #[inline(always)]
    pub fn notify_all(&self) {
        if self.has_waiters() {
            self.notify(usize::MAX);
        }
    }

    /// Whether anybody waits.
    #[inline(always)]
    pub fn has_waiters(&self) -> bool {
        self.0.masked(|state, _| !state.waiters.is_empty())
    }

    #[cold]
    fn notify(&self, most: usize) {
        Kernel::with_reschedule(|kernel| self.notify_in(kernel, most));
    }

    pub(crate) fn wait_in(
        &'static self,
        kernel: &Kernel,
        mutex: &'static RawMutex,
        deadline: Option<Instant>,
    ) -> Result<Acquired, MutexError> {
        let (state, thread) = (self.0.inside(kernel), kernel.current());
        let begin = || {
            let others = state.mutex.replace(Some(mutex));
            let uncontended = state.waiters.is_empty();
            if !uncontended && others.is_some_and(|other| !core::ptr::eq(other, mutex)) {
                state.mutex.set(others);
                return Err(MutexError::OtherMutex);
            }
            if !kernel.limit_wait(thread, deadline) {
                return Err(MutexError::TimedOut);
            }
            kernel.scheduler.block(thread);
            state.waiters.enqueue(thread);
            thread.set_queue_lock(Some(self.0.lock()), true);
            Ok(())
        };
        // In `PI_CHAIN_LOCK`, nobody notifies between the beginning of the wait and the unlocking.
        PI_CHAIN_LOCK.locked(|| {
            if !mutex.locked(|| mutex.is_owned_by(kernel, thread)) {
                return Err(MutexError::NotOwner);
            }
            self.0.lock().locked(begin)?;
            mutex.locked(|| mutex.release(kernel, thread));
            Ok(())
        })?;
        thread.wait_in_queue(kernel);
        thread.set_queue_lock(None, false);
        let (wait_timed_out, acquired) = mutex.pi_locked(|| {
            let wait_timed_out = thread.take_wait_timed_out();
            let owned = mutex.is_owned_by(kernel, thread);
            (wait_timed_out, owned.then(|| mutex.acquired(kernel)))
        });
        let acquired = match acquired {
            Some(acquired) => {
                kernel.this_core().record(Event::Acquire, mutex);
                acquired
            }
            None => mutex.lock_in(kernel.this_core(), None)?,
        };
        match acquired {
            Acquired::Consistent if wait_timed_out => Err(MutexError::TimedOut),
            acquired => Ok(acquired),
        }
    }

    pub(crate) fn notify_in(&self, kernel: &Kernel, most: usize) {
        let state = self.0.inside(kernel);
        for _ in 0..most {
            let notified = PI_CHAIN_LOCK.locked(|| {
                let first = || Some((state.waiters.pop(kernel)?, state.mutex.get()?));
                let (thread, mutex) = self.0.lock().locked(first)?;
                mutex.locked(|| mutex.receive(kernel, thread));
                Some(())
            });
            if notified.is_none() {
                return;
            }
        }
    }
}

impl Default for RawCondvar {
    fn default() -> Self {
        Self::new()
    }
}
