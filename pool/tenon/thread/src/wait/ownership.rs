//! Mutex ownership and priority inheritance (slow paths).
//!
//! A mutex refers to its owner. The owner refers to the mutex only while another thread waits for
//! it, or while it has a ceiling: then the mutex is in the owner's list of those that donate a
//! priority, and the owner runs at the most urgent of its base priority and the donated ones. An
//! owner that waits itself passes its priority on to the owner it waits for:
//! [`Thread::propagate_priority`] follows the chain. Without contention, locking and unlocking
//! access the mutex only.

use super::{
    Acquired, FREE, FREE_WITH_CEILING, MutexError, MutexState, Protocol, RawMutex, Robustness,
    UNRECOVERABLE,
};
use crate::kernel::Kernel;
use crate::thread::Thread;
use crate::time::instant::Instant;
use core::sync::atomic::{AtomicBool, Ordering};
use core_list::Linked;
use core_sched::Priority;
use core_trace::Event;
use tenon_machine::object_lock::PI_CHAIN_LOCK;

/// Some thread has waited for a mutex or owned one with a ceiling. In an image without mutexes no
/// code sets this, so that the linker knows its value and removes what depends on it from the paths
/// of threads.
static PI_USED: AtomicBool = AtomicBool::new(false);

/// Whether a thread can own or wait for a mutex.
#[inline(always)]
pub(crate) fn pi_used() -> bool {
    PI_USED.load(Ordering::Relaxed)
}

impl RawMutex {
    pub(crate) fn state<'a>(&'a self, kernel: &Kernel) -> &'a MutexState {
        self.state.state(kernel)
    }

    /// Calls `action`, which concerns this mutex and the threads that inherit a priority through
    /// it, with `PI_CHAIN_LOCK` and the lock of the mutex held. The fast paths change the mutex
    /// under its own lock, so this excludes them. They do not change a contended mutex, for which
    /// `PI_CHAIN_LOCK` is sufficient.
    #[inline(always)]
    pub(super) fn pi_locked<R>(&self, action: impl FnOnce() -> R) -> R {
        PI_CHAIN_LOCK.locked(|| self.locked(action))
    }

    /// Calls `action` with the lock of the mutex held; the caller holds `PI_CHAIN_LOCK`.
    #[inline(always)]
    pub(super) fn locked<R>(&self, action: impl FnOnce() -> R) -> R {
        self.state.lock().locked(action)
    }

    /// Its owner, if that has not ended.
    pub(crate) fn owner(&self, kernel: &Kernel) -> Option<&'static Thread> {
        let state = self.state(kernel);
        let owner = state.owner.get()?;
        (owner.id() == state.owner_id.get()).then_some(owner)
    }

    pub(crate) fn is_owned_by(&self, kernel: &Kernel, thread: &Thread) -> bool {
        self.state(kernel).owner_id.get() == thread.id()
    }

    /// How its owner acquired it.
    pub(crate) fn acquired(&self, kernel: &Kernel) -> Acquired {
        if self.state(kernel).inconsistent.get() {
            Acquired::OwnerDied
        } else {
            Acquired::Consistent
        }
    }

    pub(crate) fn lock_in(
        &'static self,
        kernel: &Kernel,
        deadline: Option<Instant>,
    ) -> Result<Acquired, MutexError> {
        let (state, thread) = (self.state(kernel), kernel.current());
        let at_once = self.pi_locked(|| {
            if let Some(acquired) = self.acquire(kernel, thread) {
                return Some(acquired);
            }
            if !kernel.limit_wait(thread, deadline) {
                return Some(Err(MutexError::TimedOut));
            }
            kernel.scheduler.block(thread);
            self.add_waiter(kernel, thread);
            None
        });
        let result = at_once.unwrap_or_else(|| {
            thread.wait_in_queue(kernel);
            self.pi_locked(|| match state.owner_id.get() {
                id if id == thread.id() => Ok(self.acquired(kernel)),
                UNRECOVERABLE => Err(MutexError::Unrecoverable),
                _ => Err(MutexError::TimedOut),
            })
        });
        if result.is_ok() {
            kernel.this_core().record(Event::Acquire, self);
        }
        result
    }

    pub(crate) fn unlock_in(&'static self, kernel: &Kernel) -> Result<(), MutexError> {
        let thread = kernel.current();
        if !self.is_owned_by(kernel, thread) {
            return Err(MutexError::NotOwner);
        }
        self.release(kernel, thread);
        Ok(())
    }

    /// Releases it and recomputes the priority of its owner.
    pub(crate) fn release(&'static self, kernel: &Kernel, owner: &'static Thread) {
        kernel.record(Event::Release, self);
        if self.state(kernel).inconsistent.get() {
            self.make_unrecoverable(kernel);
        } else {
            self.hand_over(kernel);
        }
        owner.propagate_priority(kernel);
    }

    /// Makes `thread`, which does not wait, the owner, or returns the reason if it must not lock
    /// the mutex. None if it has to wait.
    pub(crate) fn acquire(
        &'static self,
        kernel: &Kernel,
        thread: &'static Thread,
    ) -> Option<Result<Acquired, MutexError>> {
        let state = self.state(kernel);
        match state.owner_id.get() {
            FREE | FREE_WITH_CEILING => {}
            UNRECOVERABLE => return Some(Err(MutexError::Unrecoverable)),
            id if id == thread.id() => return Some(Err(MutexError::AlreadyOwned)),
            _ if self.owner(kernel).is_some() || state.robustness == Robustness::Stalled => {
                return None;
            }
            // The owner ended while no thread waited.
            _ => state.inconsistent.set(true),
        }
        if let Protocol::Protect(ceiling) = state.protocol.get()
            && thread.base_priority() > ceiling
        {
            return Some(Err(MutexError::AboveCeiling));
        }
        self.grant(kernel, thread);
        thread.propagate_priority(kernel);
        Some(Ok(self.acquired(kernel)))
    }

    pub(crate) fn recover_in(&'static self, kernel: &Kernel) -> Result<(), MutexError> {
        let (state, thread) = (self.state(kernel), kernel.current());
        if state.owner_id.get() == UNRECOVERABLE {
            self.grant(kernel, thread);
        } else {
            self.acquire(kernel, thread)
                .unwrap_or(Err(MutexError::Busy))?;
        }
        state.inconsistent.set(false);
        state.update_slow_unlock();
        thread.propagate_priority(kernel);
        Ok(())
    }

    /// Requeues `thread`, which waits and is in no list: makes it the owner, or a waiter of this
    /// mutex.
    pub(crate) fn requeue(&'static self, kernel: &Kernel, thread: &'static Thread) {
        match self.acquire(kernel, thread) {
            // If it must not lock the mutex, it finds the reason when it locks again.
            Some(_) => thread.wake(kernel),
            None => self.add_waiter(kernel, thread),
        }
    }

    /// Adds `thread`, which is in no list, to the waiters.
    fn add_waiter(&'static self, kernel: &Kernel, thread: &'static Thread) {
        PI_USED.store(true, Ordering::Relaxed);
        let state = self.state(kernel);
        state.waiters.enqueue(thread);
        thread.blocked_on().set(Some(self));
        state.needs_slow_unlock.set(true);
        if let Some(owner) = self.owner(kernel) {
            if !self.is_linked() {
                owner.held().push(self);
            }
            owner.propagate_priority(kernel);
        }
    }

    /// Updates the mutex after a waiter has left its queue.
    pub(crate) fn waiter_left(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        self.locked(|| state.update_slow_unlock());
        if let Some(owner) = self.owner(kernel) {
            if state.waiters.is_empty() && !state.has_ceiling() {
                owner.held().remove(self);
            }
            owner.propagate_priority(kernel);
        }
    }

    /// Makes `thread` the owner. It inherits from the remaining waiters once its priority is
    /// propagated.
    fn grant(&'static self, kernel: &Kernel, thread: &'static Thread) {
        let state = self.state(kernel);
        state.set_owner(thread);
        state.update_slow_unlock();
        if !state.waiters.is_empty() || state.has_ceiling() {
            PI_USED.store(true, Ordering::Relaxed);
            thread.held().push(self);
        }
    }

    /// Hands it over from its owner to the first waiter. The caller then propagates the priority of
    /// the former owner.
    fn hand_over(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        if let Some(owner) = self.owner(kernel) {
            owner.held().remove(self);
        }
        match state.waiters.pop(kernel) {
            Some(next) => {
                next.blocked_on().set(None);
                self.grant(kernel, next);
                next.propagate_priority(kernel);
                next.wake(kernel);
            }
            None => {
                let ceiling = state.has_ceiling();
                let free = if ceiling { FREE_WITH_CEILING } else { FREE };
                state.owner_id.set(free);
                state.update_slow_unlock();
            }
        }
    }

    /// Makes it unrecoverable and wakes all waiters. The caller then propagates the priority of its
    /// owner.
    fn make_unrecoverable(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        if let Some(owner) = self.owner(kernel) {
            owner.held().remove(self);
        }
        state.owner_id.set(UNRECOVERABLE);
        while let Some(next) = state.waiters.pop(kernel) {
            next.blocked_on().set(None);
            next.wake(kernel);
        }
    }

    /// Passes it on as its owner, for which it is in the list of donating mutexes, exits.
    pub(crate) fn owner_exits(&'static self, kernel: &Kernel, owner: &'static Thread) {
        let state = self.state(kernel);
        match state.robustness {
            Robustness::Stalled => {
                owner.held().remove(self);
            }
            Robustness::Robust => self.locked(|| {
                state.inconsistent.set(true);
                self.hand_over(kernel);
            }),
        }
    }

    /// The priority that it donates to its owner.
    pub(crate) fn donated_priority(&self, kernel: &Kernel) -> Priority {
        let state = self.state(kernel);
        match state.protocol.get() {
            Protocol::None => Priority::LOWEST,
            Protocol::Inherit => state.waiters.priority(),
            Protocol::Protect(ceiling) => ceiling,
        }
    }
}
