//! Condition variable without data.

use crate::{Acquired, Guarded, MutexError, RawMutex, WaitQueue};
use core::cell::Cell;
use core_trace::Event;
use tenon_kernel::kernel::Kernel;
use tenon_machine::object_lock::PI_CHAIN_LOCK;
use tenon_time::Instant;

struct State {
    waiters: WaitQueue,
    /// The mutex of the waiters; meaningless while there are none.
    mutex: Cell<Option<&'static RawMutex>>,
}

// SAFETY: it is not `Sync`, so threads share it inside a `Guarded` only, which one core at a time
// accesses with interrupts masked.
unsafe impl Send for State {}

/// A condition variable without data: the base of guards and of interfaces for other languages.
///
/// Guarantees: a notified thread becomes the owner of the mutex or one of its waiters at once, and
/// runs when it owns the mutex, so that notifying many threads wakes them one at a time. Without
/// waiters, notifying does not call the scheduler. Notifying all takes one step per waiter with
/// interrupts masked.
pub struct RawCondvar(Guarded<State>);

impl RawCondvar {
    /// A condition variable without waiters.
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            waiters: WaitQueue::new(),
            mutex: Cell::new(None),
        }))
    }

    /// Unlocks `mutex`, which the calling thread owns, waits to be notified, at the latest until
    /// `deadline`, and locks it again. The calling thread owns it also after
    /// [`MutexError::TimedOut`]; after any other error it does not, except
    /// [`MutexError::OtherMutex`], which has no effect.
    pub fn wait(
        &'static self,
        mutex: &'static RawMutex,
        deadline: Option<Instant>,
    ) -> Result<Acquired, MutexError> {
        self.wait_unless(mutex, deadline, || false)
    }

    /// As [`wait`](Self::wait), but times out at once if `over` returns true. `over` is called with
    /// interrupts masked, which stay masked until the wait begins.
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

    /// Notifies the first waiter. Also callable from an interrupt handler.
    #[inline(always)]
    pub fn notify_one(&self) {
        if self.has_waiters() {
            self.notify(1);
        }
    }

    /// Notifies all waiters. Also callable from an interrupt handler.
    #[inline(always)]
    pub fn notify_all(&self) {
        if self.has_waiters() {
            self.notify(usize::MAX);
        }
    }

    /// Whether a thread waits.
    #[inline(always)]
    pub fn has_waiters(&self) -> bool {
        self.0.masked(|state, _| !state.waiters.is_empty())
    }

    #[cold]
    fn notify(&self, most: usize) {
        Kernel::with_reschedule(|kernel| self.notify_in(kernel, most));
    }

    fn wait_in(
        &'static self,
        kernel: &Kernel,
        mutex: &'static RawMutex,
        deadline: Option<Instant>,
    ) -> Result<Acquired, MutexError> {
        let (state, thread) = (self.0.state(kernel), kernel.current());
        let begin = || {
            let others = state.mutex.replace(Some(mutex));
            let uncontended = state.waiters.is_empty();
            if !uncontended && others.is_some_and(|other| !core::ptr::eq(other, mutex)) {
                state.mutex.set(others);
                return Err(MutexError::OtherMutex);
            }
            if !kernel.limit_wait(thread, deadline.map(Instant::nanoseconds)) {
                return Err(MutexError::TimedOut);
            }
            kernel.scheduler.block(thread);
            state.waiters.0.enqueue(thread);
            thread.set_queue_lock(Some(self.0.lock()), true);
            Ok(())
        };
        // `PI_CHAIN_LOCK` excludes a notification between the begin of the wait and the unlock.
        PI_CHAIN_LOCK.locked(|| {
            if !mutex.0.locked(|| mutex.is_owned_by(kernel, thread)) {
                return Err(MutexError::NotOwner);
            }
            self.0.lock().locked(begin)?;
            mutex.0.locked(|| mutex.release(kernel, thread));
            Ok(())
        })?;
        thread.wait_in_queue(kernel);
        thread.set_queue_lock(None, false);
        let (timed_out, acquired) = mutex.0.pi_locked(|| {
            let timed_out = thread.take_wait_timed_out();
            let owned = mutex.is_owned_by(kernel, thread);
            (timed_out, owned.then(|| mutex.acquired(kernel)))
        });
        let acquired = match acquired {
            Some(acquired) => {
                kernel.this_core().record(Event::Acquire, &mutex.0);
                acquired
            }
            None => mutex.lock_in(kernel.this_core(), None)?,
        };
        match acquired {
            Acquired::Consistent if timed_out => Err(MutexError::TimedOut),
            acquired => Ok(acquired),
        }
    }

    fn notify_in(&self, kernel: &Kernel, most: usize) {
        let state = self.0.state(kernel);
        for _ in 0..most {
            let notified = PI_CHAIN_LOCK.locked(|| {
                let first = || Some((state.waiters.0.pop(kernel)?, state.mutex.get()?));
                let (thread, mutex) = self.0.lock().locked(first)?;
                mutex.0.locked(|| mutex.requeue(kernel, thread));
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
