//! Mutex operations: fast paths, and the interface for other languages.

use super::{Acquired, FREE, MutexError, Protocol, RawMutex};
use crate::kernel::Kernel;
use crate::time::instant::Instant;
use core_sched::Priority;
use core_trace::Event;
use tenon_machine::analysis_notes as notes;

impl RawMutex {
    /// Locks it. Blocks until it can.
    #[inline(always)]
    pub fn lock(&'static self) -> Result<Acquired, MutexError> {
        if self.try_lock_fast() {
            return Ok(Acquired::Consistent);
        }
        self.lock_slow(None)
    }

    /// Locks it. Blocks until it can, at the latest until `deadline`.
    #[inline(always)]
    pub fn lock_until(&'static self, deadline: Instant) -> Result<Acquired, MutexError> {
        if self.try_lock_fast() {
            return Ok(Acquired::Consistent);
        }
        self.lock_slow(Some(deadline))
    }

    /// As [`lock_until`](Self::lock_until), but times out at once if `over` returns true. `over` is
    /// called with interrupts masked, which stay masked until the wait begins.
    pub fn lock_unless(
        &'static self,
        deadline: Option<Instant>,
        over: impl FnOnce() -> bool,
    ) -> Result<Acquired, MutexError> {
        Kernel::with_blocking(|kernel| {
            if over() {
                return Err(MutexError::TimedOut);
            }
            self.lock_in(kernel, deadline)
        })
    }

    /// Locks it if no thread owns it.
    #[inline(always)]
    pub fn try_lock(&'static self) -> Result<Acquired, MutexError> {
        if self.try_lock_fast() {
            return Ok(Acquired::Consistent);
        }
        self.try_lock_slow()
    }

    /// Unlocks it. The first waiter, if any, owns it before this returns.
    #[inline(always)]
    pub fn unlock(&'static self) -> Result<(), MutexError> {
        let unlocked = self.state.masked(|state, masked| {
            let fast =
                state.owner_id.get() == masked.current().id() && !state.needs_slow_unlock.get();
            if fast {
                masked.record(Event::Release, self);
                state.owner_id.set(FREE);
            }
            fast
        });
        if unlocked {
            return Ok(());
        }
        self.unlock_slow()
    }

    /// Whether the calling thread owns it.
    pub fn is_held(&self) -> bool {
        self.state
            .masked(|state, masked| state.owner_id.get() == masked.current().id())
    }

    /// Declares that the calling thread, its owner, has repaired the data that an ended owner left.
    pub fn make_consistent(&'static self) -> Result<(), MutexError> {
        let repair = |kernel: &Kernel| {
            if !self.is_owned_by(kernel, kernel.current()) {
                return Err(MutexError::NotOwner);
            }
            let state = self.state(kernel);
            state.inconsistent.set(false);
            state.update_slow_unlock();
            Ok(())
        };
        // `PI_CHAIN_LOCK` is needed to read the waiters: without it, one could be between two
        // queues.
        Kernel::with_irqs_masked(|kernel| self.pi_locked(|| repair(kernel)))
    }

    /// Locks it as consistent although an owner ended or it is unrecoverable; the caller repairs
    /// the protected data.
    pub fn recover(&'static self) -> Result<(), MutexError> {
        Kernel::with_reschedule(|kernel| self.pi_locked(|| self.recover_in(kernel)))
    }

    /// Its protocol.
    pub fn protocol(&self) -> Protocol {
        self.state.masked(|state, _| state.protocol.get())
    }

    /// Changes the ceiling of a mutex that has one and that the calling thread owns.
    pub fn set_ceiling(&'static self, ceiling: Priority) -> Result<(), MutexError> {
        let set = |kernel: &Kernel| {
            let (state, thread) = (self.state(kernel), kernel.current());
            if state.owner_id.get() != thread.id() {
                return Err(MutexError::NotOwner);
            }
            if let Protocol::Protect(_) = state.protocol.get() {
                state.protocol.set(Protocol::Protect(ceiling));
                thread.propagate_priority(kernel);
            }
            Ok(())
        };
        Kernel::with_reschedule(|kernel| self.pi_locked(|| set(kernel)))
    }

    /// Locks it on the fast path: it has no owner and no ceiling.
    #[inline(always)]
    fn try_lock_fast(&'static self) -> bool {
        self.state.masked(|state, masked| {
            let free = state.owner_id.get() == FREE;
            if free {
                masked.record(Event::Acquire, self);
                state.set_owner(masked.current());
            }
            free
        })
    }

    #[cold]
    fn lock_slow(&'static self, deadline: Option<Instant>) -> Result<Acquired, MutexError> {
        Kernel::with_blocking(|kernel| self.lock_in(kernel, deadline))
    }

    #[cold]
    fn try_lock_slow(&'static self) -> Result<Acquired, MutexError> {
        // A handler cannot own a mutex: the build rejects one that calls this, as if it blocked.
        notes::note_blocking();
        Kernel::with_reschedule(|kernel| {
            let acquired = self.pi_locked(|| self.acquire(kernel, kernel.current()));
            if let Some(Ok(_)) = acquired {
                kernel.record(Event::Acquire, self);
            }
            acquired.unwrap_or(Err(MutexError::Busy))
        })
    }

    #[cold]
    fn unlock_slow(&'static self) -> Result<(), MutexError> {
        Kernel::with_reschedule(|kernel| self.pi_locked(|| self.unlock_in(kernel)))
    }
}
