//! Mutexes (POSIX.1-2017, `pthread_mutex_*`).

pub(crate) mod attributes;
mod calls;

use crate::mutex::attributes::{MutexAttributes, NORMAL, RECURSIVE};
use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use tenon_libc::Errno;
use tenon_libc::object::{DESTROYED, Object};
use tenon_libc::time::Timeout;
use tenon_pthread::policy;
use tenon_pthread::wait::{self, WaitError};
use tenon_sync::raw::{Acquired, MutexError, Protocol, RawMutex, Robustness};
use tenon_thread::thread::{self, Priority};
use tenon_thread::trace::{self, Kind, Name};

/// Words of `pthread_mutex_t` that hold the raw mutex.
const WORDS: usize = 14;

/// `pthread_mutex_t` (`<sys/types.h>`).
#[repr(C)]
pub struct Mutex {
    mark: Cell<u32>,
    kind: Cell<u8>,
    robust: Cell<bool>,
    /// The former owner ended, and the mutex is not yet made consistent.
    inconsistent: Cell<bool>,
    /// Recursion count beyond the first lock.
    recursion: Cell<u32>,
    raw: UnsafeCell<MaybeUninit<RawMutex>>,
    /// Remaining words of `pthread_mutex_t`.
    _room: [u64; WORDS - size_of::<RawMutex>() / 8],
}

const _: () = assert!(size_of::<Mutex>() == 16 + WORDS * 8 && align_of::<Mutex>() == 8);

// SAFETY: the fields beside the raw mutex are accessed by its owner, or by the thread that
// initialises it; every bit pattern of the integers is valid, and the booleans are read only after
// the initialisation.
unsafe impl Object for Mutex {
    const MARK: u32 = 0x7e50_0001;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }

    fn init_static(&self) -> Result<(), Errno> {
        self.initialise(&MutexAttributes::DEFAULT);
        Ok(())
    }
}

impl Mutex {
    pub(crate) fn initialise(&self, attributes: &MutexAttributes) {
        let raw = RawMutex::with(attributes.protocol(), attributes.robustness());
        // SAFETY: no thread uses an object before it is initialised.
        unsafe { (*self.raw.get()).write(raw) };
        self.kind.set(attributes.kind);
        self.robust
            .set(attributes.robustness() == Robustness::Robust);
        self.inconsistent.set(false);
        self.recursion.set(0);
        self.mark.set(Self::MARK);
        trace::describe(self, Kind::Mutex, Name::None);
    }

    #[inline(always)]
    pub(crate) fn raw(&'static self) -> &'static RawMutex {
        // SAFETY: the object is initialised, as `at` checked its mark.
        unsafe { (*self.raw.get()).assume_init_ref() }
    }

    #[inline(always)]
    pub(crate) fn lock(&'static self, timeout: Timeout<'_>) -> Result<(), Errno> {
        match self.raw().try_lock() {
            Ok(acquired) => self.acquired_as(acquired),
            Err(error) => self.lock_slow(error, timeout),
        }
    }

    #[cold]
    fn lock_slow(&'static self, error: MutexError, timeout: Timeout<'_>) -> Result<(), Errno> {
        match error {
            MutexError::AlreadyOwned if self.kind.get() == RECURSIVE => self.lock_recursively(),
            MutexError::AlreadyOwned if self.kind.get() == NORMAL => self_deadlock(timeout),
            MutexError::Busy => self.acquired_as(self.wait(timeout)?),
            error => Err(errno(error)),
        }
    }

    /// Locks the mutex if that does not block.
    pub(crate) fn try_lock(&'static self) -> Result<(), Errno> {
        match self.raw().try_lock() {
            Ok(acquired) => self.acquired_as(acquired),
            Err(MutexError::AlreadyOwned) if self.kind.get() == RECURSIVE => {
                self.lock_recursively()
            }
            Err(MutexError::AlreadyOwned) => Err(Errno::EBUSY),
            Err(error) => Err(errno(error)),
        }
    }

    /// Increments the recursion count.
    fn lock_recursively(&self) -> Result<(), Errno> {
        let recursion = self.recursion.get().checked_add(1).ok_or(Errno::EAGAIN)?;
        self.recursion.set(recursion);
        Ok(())
    }

    /// Blocks until the mutex is locked; signal handlers run meanwhile.
    fn wait(&'static self, timeout: Timeout<'_>) -> Result<Acquired, Errno> {
        loop {
            let deadline = timeout.instant()?;
            let (locked, interrupted) =
                wait::restartable_by(|over| self.raw().lock_unless(deadline, over));
            match locked {
                Err(MutexError::TimedOut) if interrupted => wait::act_on_urgent(),
                locked => return locked.map_err(errno),
            }
        }
    }

    /// Result of a successful lock for the new owner.
    #[inline(always)]
    pub(crate) fn acquired_as(&self, acquired: Acquired) -> Result<(), Errno> {
        match acquired {
            Acquired::Consistent => Ok(()),
            Acquired::OwnerDied => {
                self.inconsistent.set(true);
                self.recursion.set(0);
                Err(Errno::EOWNERDEAD)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn unlock(&'static self) -> Result<(), Errno> {
        if self.recursion.get() > 0 && self.raw().is_held() {
            self.recursion.set(self.recursion.get() - 1);
            return Ok(());
        }
        self.raw().unlock().map_err(errno)
    }

    /// The recursion count, restored after a wait on a condition variable.
    pub(crate) fn recursion(&self) -> &Cell<u32> {
        &self.recursion
    }

    pub(crate) fn make_consistent(&'static self) -> Result<(), Errno> {
        let able = self.robust.get() && self.raw().is_held() && self.inconsistent.get();
        if !able {
            return Err(Errno::EINVAL);
        }
        self.inconsistent.set(false);
        self.raw().make_consistent().map_err(errno)
    }

    /// Destroys the mutex unless it is owned.
    pub(crate) fn destroy_object(&'static self) -> Result<(), Errno> {
        match self.raw().try_lock() {
            Ok(acquired) => {
                if acquired == Acquired::OwnerDied {
                    // The mutex is destroyed right after this, so that its state does not matter.
                    let _ = self.raw().make_consistent();
                }
                self.raw().unlock().map_err(errno)?;
            }
            Err(MutexError::AlreadyOwned | MutexError::Busy) => return Err(Errno::EBUSY),
            Err(_) => {}
        }
        self.mark.set(DESTROYED);
        Ok(())
    }

    pub(crate) fn ceiling(&'static self) -> Result<Priority, Errno> {
        match self.raw().protocol() {
            Protocol::Protect(ceiling) => Ok(ceiling),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Changes the ceiling while owning the mutex; the caller's priority may exceed the old
    /// ceiling.
    pub(crate) fn set_ceiling(&'static self, new: i32) -> Result<Priority, Errno> {
        let new = policy::priority(policy::FIFO, new)?;
        let (old, caller) = (self.ceiling()?, thread::current());
        let own = caller.priority();
        if own > old {
            caller.set_priority(old);
        }
        let changed = self.lock(Timeout::NONE).and_then(|()| {
            let set = self.raw().set_ceiling(new).map_err(errno);
            self.unlock().and(set)
        });
        caller.set_priority(own);
        changed.map(|()| old)
    }
}

/// Deadlock of a thread that locks a normal mutex twice: it waits until the timeout or for ever.
fn self_deadlock(timeout: Timeout<'_>) -> Result<(), Errno> {
    loop {
        let deadline = timeout.instant()?;
        let alone = &tenon_pthread::current().alone;
        let cut = alone.waiting(|_, waiting| wait::restartable(waiting, |queue| queue, deadline));
        match cut {
            Err(WaitError::TimedOut) => return Err(Errno::ETIMEDOUT),
            _ => wait::act_on_urgent(),
        }
    }
}

pub(crate) fn errno(error: MutexError) -> Errno {
    match error {
        MutexError::AlreadyOwned => Errno::EDEADLK,
        MutexError::NotOwner => Errno::EPERM,
        MutexError::Busy => Errno::EBUSY,
        MutexError::TimedOut => Errno::ETIMEDOUT,
        MutexError::Unrecoverable => Errno::ENOTRECOVERABLE,
        MutexError::AboveCeiling | MutexError::OtherMutex => Errno::EINVAL,
    }
}
