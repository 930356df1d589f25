//! Mutex operations: fast paths, and the interface for other languages.

mod ownership;

use crate::Masked;
use core::fmt;
use core_sched::Priority;
use core_trace::Event;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::wait::{self, FREE, MutexState, Protocol, Robustness};
use tenon_machine::analysis_notes as notes;
use tenon_machine::irq_mask::without_irqs;
use tenon_time::Instant;

/// How a mutex was acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// After its last owner unlocked it.
    Consistent,
    /// After its owner ended: the protected data is in an unknown state. If it is unlocked before
    /// [`RawMutex::make_consistent`], it becomes unrecoverable.
    OwnerDied,
}

/// Error of a mutex operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutexError {
    /// The calling thread owns it already.
    AlreadyOwned,
    /// The calling thread does not own it.
    NotOwner,
    /// Another thread owns it.
    Busy,
    /// The wait timed out.
    TimedOut,
    /// An owner ended, and the next one unlocked it without making it consistent.
    Unrecoverable,
    /// The calling thread has a priority above the mutex's ceiling.
    AboveCeiling,
    /// Other threads wait for the same condition variable with another mutex.
    OtherMutex,
}

#[expect(non_upper_case_globals, reason = "the former name of a variant")]
impl MutexError {
    /// The former name of [`MutexError::AlreadyOwned`].
    #[deprecated(note = "renamed to `AlreadyOwned`")]
    pub const Owned: Self = Self::AlreadyOwned;
}

impl fmt::Display for MutexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyOwned => "the thread owns the mutex already",
            Self::NotOwner => "the thread does not own the mutex",
            Self::Busy => "another thread owns the mutex",
            Self::TimedOut => "the time to wait was over",
            Self::Unrecoverable => "an owner of the mutex ended and left it inconsistent",
            Self::AboveCeiling => "the thread is more urgent than the mutex's ceiling",
            Self::OtherMutex => "others wait for the condition with another mutex",
        })
    }
}

impl core::error::Error for MutexError {}

/// A mutex without data: the base of [`Mutex`](../tenon_sync/struct.Mutex.html) and of
/// interfaces for other languages.
///
/// Guarantees: without contention, neither locking nor unlocking calls the scheduler. Unlocking
/// hands it to the most urgent waiter, the longest waiting among equals, and no other thread can
/// lock it in between. Not for interrupt handlers, which cannot own a mutex.
#[repr(transparent)]
pub struct RawMutex(pub(crate) wait::Mutex);

impl RawMutex {
    /// A free, robust mutex with priority inheritance.
    pub const fn new() -> Self {
        Self::with(Protocol::Inherit, Robustness::Robust)
    }

    /// A free mutex.
    pub const fn with(protocol: Protocol, robustness: Robustness) -> Self {
        Self(wait::Mutex::new(protocol, robustness))
    }

    /// Accesses its state with interrupts masked, by an `action` that neither wakes threads nor
    /// blocks.
    #[inline(always)]
    fn masked<R>(&self, action: impl FnOnce(&MutexState, &Masked) -> R) -> R {
        without_irqs(|| self.0.with_state(|state| action(state, &Masked::NOW)))
    }

    /// Locks the mutex. Blocks until it can.
    #[inline(always)]
    pub fn lock(&'static self) -> Result<Acquired, MutexError> {
        if self.try_lock_fast() {
            return Ok(Acquired::Consistent);
        }
        self.lock_slow(None)
    }

    /// Locks the mutex. Blocks until it can, at the latest until `deadline`.
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
            self.lock_in(kernel, deadline.map(Instant::nanoseconds))
        })
    }

    /// Locks the mutex if no thread owns it.
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
        let unlocked = self.masked(|state, masked| {
            let fast = state.owner_id.get() == masked.kernel().current().id()
                && !state.needs_slow_unlock.get();
            if fast {
                masked.record(Event::Release, &self.0);
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
        self.masked(|state, masked| state.owner_id.get() == masked.kernel().current().id())
    }

    /// Declares that the calling thread, its owner, has repaired the data that an ended owner left.
    pub fn make_consistent(&'static self) -> Result<(), MutexError> {
        let repair = |kernel: &Kernel| {
            if !self.is_owned_by(kernel, kernel.current()) {
                return Err(MutexError::NotOwner);
            }
            let state = self.0.state(kernel);
            state.inconsistent.set(false);
            state.update_slow_unlock();
            Ok(())
        };
        // `PI_CHAIN_LOCK` is needed to read the waiters: without it, one could be between two
        // queues.
        Kernel::with_irqs_masked(|kernel| self.0.pi_locked(|| repair(kernel)))
    }

    /// Locks it as consistent although an owner ended or it is unrecoverable; the caller repairs
    /// the protected data.
    pub fn recover(&'static self) -> Result<(), MutexError> {
        Kernel::with_reschedule(|kernel| self.0.pi_locked(|| self.recover_in(kernel)))
    }

    /// Its protocol.
    pub fn protocol(&self) -> Protocol {
        self.masked(|state, _| state.protocol.get())
    }

    /// Changes the ceiling of a mutex that has one and that the calling thread owns.
    pub fn set_ceiling(&'static self, ceiling: Priority) -> Result<(), MutexError> {
        let set = |kernel: &Kernel| {
            let (state, thread) = (self.0.state(kernel), kernel.current());
            if state.owner_id.get() != thread.id() {
                return Err(MutexError::NotOwner);
            }
            if let Protocol::Protect(_) = state.protocol.get() {
                state.protocol.set(Protocol::Protect(ceiling));
                thread.propagate_priority(kernel);
            }
            Ok(())
        };
        Kernel::with_reschedule(|kernel| self.0.pi_locked(|| set(kernel)))
    }

    /// Locks it on the fast path: it has no owner and no ceiling.
    #[inline(always)]
    fn try_lock_fast(&'static self) -> bool {
        self.masked(|state, masked| {
            let free = state.owner_id.get() == FREE;
            if free {
                masked.record(Event::Acquire, &self.0);
                state.set_owner(masked.kernel().current());
            }
            free
        })
    }

    #[cold]
    fn lock_slow(&'static self, deadline: Option<Instant>) -> Result<Acquired, MutexError> {
        Kernel::with_blocking(|kernel| self.lock_in(kernel, deadline.map(Instant::nanoseconds)))
    }

    #[cold]
    fn try_lock_slow(&'static self) -> Result<Acquired, MutexError> {
        // A handler cannot own a mutex: the build rejects one that calls this, as if it blocked.
        notes::note_blocking();
        Kernel::with_reschedule(|kernel| {
            let acquired = self.0.pi_locked(|| self.acquire(kernel, kernel.current()));
            if let Some(Ok(_)) = acquired {
                kernel.record(Event::Acquire, &self.0);
            }
            acquired.unwrap_or(Err(MutexError::Busy))
        })
    }

    #[cold]
    fn unlock_slow(&'static self) -> Result<(), MutexError> {
        Kernel::with_reschedule(|kernel| self.0.pi_locked(|| self.unlock_in(kernel)))
    }
}

impl Default for RawMutex {
    fn default() -> Self {
        Self::new()
    }
}
