//! Slow paths of a mutex: lock, unlock, and the end of an owner.

use crate::{Acquired, MutexError, RawMutex};
use core_trace::Event;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::Thread;
use tenon_kernel::wait::{
    FREE, FREE_WITH_CEILING, MutexState, Protocol, Robustness, UNRECOVERABLE,
};

impl RawMutex {
    fn state<'a>(&'a self, kernel: &Kernel) -> &'a MutexState {
        self.0.state(kernel)
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
        deadline: Option<u64>,
    ) -> Result<Acquired, MutexError> {
        let (state, thread) = (self.state(kernel), kernel.current());
        let at_once = self.0.pi_locked(|| {
            if let Some(acquired) = self.acquire(kernel, thread) {
                return Some(acquired);
            }
            if !kernel.limit_wait(thread, deadline) {
                return Some(Err(MutexError::TimedOut));
            }
            kernel.scheduler.block(thread);
            self.0.add_waiter(kernel, thread);
            None
        });
        let result = at_once.unwrap_or_else(|| {
            thread.wait_in_queue(kernel);
            self.0.pi_locked(|| match state.owner_id.get() {
                id if id == thread.id() => Ok(self.acquired(kernel)),
                UNRECOVERABLE => Err(MutexError::Unrecoverable),
                _ => Err(MutexError::TimedOut),
            })
        });
        if result.is_ok() {
            kernel.this_core().record(Event::Acquire, &self.0);
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
        kernel.record(Event::Release, &self.0);
        if self.state(kernel).inconsistent.get() {
            self.make_unrecoverable(kernel);
        } else {
            self.0.hand_over(kernel);
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
            _ if self.0.owner(kernel).is_some() || state.robustness == Robustness::Stalled => {
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
        self.0.grant(kernel, thread);
        thread.propagate_priority(kernel);
        Some(Ok(self.acquired(kernel)))
    }

    pub(crate) fn recover_in(&'static self, kernel: &Kernel) -> Result<(), MutexError> {
        let (state, thread) = (self.state(kernel), kernel.current());
        if state.owner_id.get() == UNRECOVERABLE {
            self.0.grant(kernel, thread);
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
            None => self.0.add_waiter(kernel, thread),
        }
    }

    /// Makes it unrecoverable and wakes all waiters. The caller then propagates the priority of its
    /// owner.
    fn make_unrecoverable(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        if let Some(owner) = self.0.owner(kernel) {
            owner.held().remove(&self.0);
        }
        state.owner_id.set(UNRECOVERABLE);
        while let Some(next) = state.waiters.pop(kernel) {
            next.blocked_on().set(None);
            next.wake(kernel);
        }
    }
}
