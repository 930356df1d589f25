//! The mutex that guards and other languages' interfaces are made of.

use super::Guarded;
use super::ownership::{FREE, State};
use crate::kernel::Kernel;
use crate::sites;
use crate::thread::Priority;
use crate::time::Instant;
use core::fmt;
use core_list::{Link, Linked};
use core_trace::Event;

/// Whom an owner takes its priority from, beside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// From nobody: the owner runs by its own.
    None,
    /// From the most urgent thread that waits.
    Inherit,
    /// From the mutex: this ceiling, which no thread that locks it may exceed.
    Protect(Priority),
}

/// What becomes of a mutex whose owner ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Robustness {
    /// It stays locked for good.
    Stalled,
    /// The next one gets it and learns of it.
    Robust,
}

/// How a mutex was got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// As its last owner left it.
    Consistent,
    /// From an owner that ended: what the mutex protects is in an unknown state. Unlocked without
    /// [`RawMutex::make_consistent`] it is lost for all.
    OwnerDied,
}

/// Why a mutex was not locked or unlocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutexError {
    /// The calling thread owns it already.
    AlreadyOwned,
    /// The calling thread does not own it.
    NotOwner,
    /// Somebody else owns it.
    Busy,
    /// The time was over.
    TimedOut,
    /// An owner ended, and the next one did not make it consistent.
    Unrecoverable,
    /// The calling thread is more urgent than the mutex's ceiling.
    AboveCeiling,
    /// Others wait for the same condition with another mutex.
    OtherMutex,
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

/// A mutex without data and guard: for [`Mutex`](../../tenon_sync/struct.Mutex.html) and interfaces
/// of other languages.
///
/// Guarantees: while nobody waits, neither locking nor unlocking calls the scheduler. It goes from
/// its owner to the most urgent that waits, the longest waiting among equals, and nobody comes
/// between. Not for interrupt handlers, which are no owners.
pub struct RawMutex {
    pub(super) state: Guarded<State>,
    /// Among the mutexes its owner holds for others.
    link: Link<&'static RawMutex>,
}

// SAFETY: the link is private to this crate, which touches it with interrupts masked.
unsafe impl Sync for RawMutex {}

impl RawMutex {
    /// A free mutex that lends its owner the priority of who waits, and outlives it.
    pub const fn new() -> Self {
        Self::with(Protocol::Inherit, Robustness::Robust)
    }

    /// A free mutex.
    pub const fn with(protocol: Protocol, robustness: Robustness) -> Self {
        Self {
            state: Guarded::new(State::new(protocol, robustness)),
            link: Link::new(),
        }
    }

    /// Locks it, and waits until it can.
    #[inline(always)]
    pub fn lock(&'static self) -> Result<Acquired, MutexError> {
        if self.try_lock_fast() {
            return Ok(Acquired::Consistent);
        }
        self.lock_slow(None)
    }

    /// Locks it, and waits until it can, at the latest until `deadline`.
    #[inline(always)]
    pub fn lock_until(&'static self, deadline: Instant) -> Result<Acquired, MutexError> {
        if self.try_lock_fast() {
            return Ok(Acquired::Consistent);
        }
        self.lock_slow(Some(deadline))
    }

    /// As [`lock_until`](Self::lock_until), but its time counts as over if `over` says so, which is
    /// asked with interrupts masked: nothing comes between that and the wait.
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

    /// Locks it if nobody owns it.
    #[inline(always)]
    pub fn try_lock(&'static self) -> Result<Acquired, MutexError> {
        if self.try_lock_fast() {
            return Ok(Acquired::Consistent);
        }
        self.try_lock_slow()
    }

    /// Unlocks it: whoever waits first owns it before this returns.
    #[inline(always)]
    pub fn unlock(&'static self) -> Result<(), MutexError> {
        let forgotten = self.state.masked(|state, masked| {
            let plain =
                state.number.get() == masked.current().number() && !state.needs_slow_unlock.get();
            if plain {
                masked.record(Event::Release, self);
                state.number.set(FREE);
            }
            plain
        });
        if forgotten {
            return Ok(());
        }
        self.unlock_slow()
    }

    /// Whether the calling thread owns it.
    pub fn is_held(&self) -> bool {
        self.state
            .masked(|state, masked| state.number.get() == masked.current().number())
    }

    /// Declares that its owner, the calling thread, has put right what an ended owner left.
    pub fn make_consistent(&'static self) -> Result<(), MutexError> {
        let mend = |kernel: &Kernel| {
            if !self.is_owned_by(kernel, kernel.current()) {
                return Err(MutexError::NotOwner);
            }
            let state = self.state(kernel);
            state.inconsistent.set(false);
            state.update_slow_unlock();
            Ok(())
        };
        // Who waits is known in `PI_CHAIN_LOCK` only: there a waiter may be on its way to its new place.
        Kernel::with_irqs_masked(|kernel| self.pi_locked(|| mend(kernel)))
    }

    /// Locks it, as consistent, though an owner ended or it is unrecoverable; who calls this sets
    /// right what the mutex protects.
    pub fn recover(&'static self) -> Result<(), MutexError> {
        Kernel::with_reschedule(|kernel| self.pi_locked(|| self.recover_in(kernel)))
    }

    /// What it lends its owner.
    pub fn protocol(&self) -> Protocol {
        self.state.masked(|state, _| state.protocol.get())
    }

    /// Changes the ceiling of a mutex that has one and is the calling thread's.
    pub fn set_ceiling(&'static self, ceiling: Priority) -> Result<(), MutexError> {
        let set = |kernel: &Kernel| {
            let (state, thread) = (self.state(kernel), kernel.current());
            if state.number.get() != thread.number() {
                return Err(MutexError::NotOwner);
            }
            if let Protocol::Protect(_) = state.protocol.get() {
                state.protocol.set(Protocol::Protect(ceiling));
                thread.settle(kernel);
            }
            Ok(())
        };
        Kernel::with_reschedule(|kernel| self.pi_locked(|| set(kernel)))
    }

    #[inline(always)]
    fn try_lock_fast(&'static self) -> bool {
        self.state.masked(|state, masked| {
            let free = state.number.get() == FREE;
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
        // A handler is no owner: one that tries to become one does not build either.
        sites::note_blocking();
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

impl Default for RawMutex {
    fn default() -> Self {
        Self::new()
    }
}

impl Linked for &'static RawMutex {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}
