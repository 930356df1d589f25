//! Mutexes (POSIX.1-2017, `pthread_mutex_*`).

pub(crate) mod attributes;
mod calls;

use crate::mutex::attributes::{MutexAttributes, NORMAL, RECURSIVE};
use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use tenon_libc::Errno;
use tenon_libc::object::{Object, UNMADE};
use tenon_libc::time::Limit;
use tenon_pthread::policy;
use tenon_pthread::wait::{self, Cut};
use tenon_sync::raw::{Acquired, MutexError, Protocol, RawMutex, Robustness};
use tenon_thread::thread::{self, Priority};

/// Words of C's `pthread_mutex_t` for the raw mutex.
const WORDS: usize = 14;

/// `pthread_mutex_t` (`<sys/types.h>`).
#[repr(C)]
pub struct Mutex {
    mark: Cell<u32>,
    kind: Cell<u8>,
    robust: Cell<bool>,
    /// Its owner got it from one that ended, and has not made it consistent.
    inconsistent: Cell<bool>,
    /// How often a recursive one was locked beyond the first time.
    again: Cell<u32>,
    raw: UnsafeCell<MaybeUninit<RawMutex>>,
    /// C's words that are left.
    _room: [u64; WORDS - size_of::<RawMutex>() / 8],
}

const _: () = assert!(size_of::<Mutex>() == 16 + WORDS * 8 && align_of::<Mutex>() == 8);

// SAFETY: what is beside the raw mutex belongs to its owner, and to whoever makes it; all of it is
// plain but the booleans, which are read once it is made.
unsafe impl Object for Mutex {
    const MARK: u32 = 0x7e50_0001;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }

    fn make_of_zeros(&self) -> Result<(), Errno> {
        self.make(&MutexAttributes::USUAL);
        Ok(())
    }
}

impl Mutex {
    pub(crate) fn make(&self, attributes: &MutexAttributes) {
        let raw = RawMutex::with(attributes.protocol(), attributes.robustness());
        // SAFETY: nobody uses it before it is made.
        unsafe { (*self.raw.get()).write(raw) };
        self.kind.set(attributes.kind);
        self.robust
            .set(attributes.robustness() == Robustness::Robust);
        self.inconsistent.set(false);
        self.again.set(0);
        self.mark.set(Self::MARK);
    }

    #[inline(always)]
    pub(crate) fn raw(&'static self) -> &'static RawMutex {
        // SAFETY: it is made, as its mark was looked at.
        unsafe { (*self.raw.get()).assume_init_ref() }
    }

    #[inline(always)]
    pub(crate) fn lock(&'static self, limit: Limit<'_>) -> Result<(), Errno> {
        match self.raw().try_lock() {
            Ok(acquired) => self.got(acquired),
            Err(error) => self.lock_in_turn(error, limit),
        }
    }

    #[cold]
    fn lock_in_turn(&'static self, error: MutexError, limit: Limit<'_>) -> Result<(), Errno> {
        match error {
            MutexError::AlreadyOwned if self.kind.get() == RECURSIVE => self.lock_again(),
            MutexError::AlreadyOwned if self.kind.get() == NORMAL => wait_for_oneself(limit),
            MutexError::Busy => self.got(self.wait(limit)?),
            error => Err(errno(error)),
        }
    }

    /// Locks it if that takes no waiting.
    pub(crate) fn try_lock(&'static self) -> Result<(), Errno> {
        match self.raw().try_lock() {
            Ok(acquired) => self.got(acquired),
            Err(MutexError::AlreadyOwned) if self.kind.get() == RECURSIVE => self.lock_again(),
            Err(MutexError::AlreadyOwned) => Err(Errno::EBUSY),
            Err(error) => Err(errno(error)),
        }
    }

    /// Counts one more locking of a recursive one by its owner.
    fn lock_again(&self) -> Result<(), Errno> {
        let again = self.again.get().checked_add(1).ok_or(Errno::EAGAIN)?;
        self.again.set(again);
        Ok(())
    }

    /// Waits for it; handlers of signals run meanwhile.
    fn wait(&'static self, limit: Limit<'_>) -> Result<Acquired, Errno> {
        loop {
            let deadline = limit.instant()?;
            let (locked, interrupted) =
                wait::for_a_lock(|over| self.raw().lock_unless(deadline, over));
            match locked {
                Err(MutexError::TimedOut) if interrupted => wait::attend_in_a_lock(),
                locked => return locked.map_err(errno),
            }
        }
    }

    /// What its new owner is told.
    #[inline(always)]
    pub(crate) fn got(&self, acquired: Acquired) -> Result<(), Errno> {
        match acquired {
            Acquired::Consistent => Ok(()),
            Acquired::OwnerDied => {
                self.inconsistent.set(true);
                self.again.set(0);
                Err(Errno::EOWNERDEAD)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn unlock(&'static self) -> Result<(), Errno> {
        if self.again.get() > 0 && self.raw().is_held() {
            self.again.set(self.again.get() - 1);
            return Ok(());
        }
        self.raw().unlock().map_err(errno)
    }

    /// How often it was locked again, to be put back after a wait in between.
    pub(crate) fn again(&self) -> &Cell<u32> {
        &self.again
    }

    pub(crate) fn make_consistent(&'static self) -> Result<(), Errno> {
        let able = self.robust.get() && self.raw().is_held() && self.inconsistent.get();
        if !able {
            return Err(Errno::EINVAL);
        }
        self.inconsistent.set(false);
        self.raw().make_consistent().map_err(errno)
    }

    /// Unmakes it unless somebody owns it.
    pub(crate) fn unmake(&'static self) -> Result<(), Errno> {
        match self.raw().try_lock() {
            Ok(acquired) => {
                if acquired == Acquired::OwnerDied {
                    // It is ours for a moment, and nobody's any more then.
                    let _ = self.raw().make_consistent();
                }
                self.raw().unlock().map_err(errno)?;
            }
            Err(MutexError::AlreadyOwned | MutexError::Busy) => return Err(Errno::EBUSY),
            Err(_) => {}
        }
        self.mark.set(UNMADE);
        Ok(())
    }

    pub(crate) fn ceiling(&'static self) -> Result<Priority, Errno> {
        match self.raw().protocol() {
            Protocol::Protect(ceiling) => Ok(ceiling),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Changes its ceiling, as its owner; the caller may be more urgent than the old one.
    pub(crate) fn set_ceiling(&'static self, new: i32) -> Result<Priority, Errno> {
        let new = policy::priority(policy::FIFO, new)?;
        let (old, caller) = (self.ceiling()?, thread::current());
        let own = caller.priority();
        if own > old {
            caller.set_priority(old);
        }
        let changed = self.lock(Limit::NONE).and_then(|()| {
            let set = self.raw().set_ceiling(new).map_err(errno);
            self.unlock().and(set)
        });
        caller.set_priority(own);
        changed.map(|()| old)
    }
}

/// What a thread does that locks a normal mutex twice: it waits, for itself.
fn wait_for_oneself(limit: Limit<'_>) -> Result<(), Errno> {
    loop {
        let deadline = limit.instant()?;
        let alone = &tenon_pthread::current().alone;
        let cut = alone.waiting(|_, waiting| wait::in_a_lock(waiting, |queue| queue, deadline));
        match cut {
            Err(Cut::TimedOut) => return Err(Errno::ETIMEDOUT),
            _ => wait::attend_in_a_lock(),
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
