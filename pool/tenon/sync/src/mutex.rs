//! Mutex with priority inheritance, and its guard.

use crate::Error;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use tenon_thread::thread::Priority;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Acquired, MutexError, Protocol, RawMutex, Robustness};

/// Data protected by a mutex.
///
/// The owner runs at the highest priority of its own and its waiters', and passes it on to the
/// owner of a mutex that it waits for itself: an urgent thread waits for the critical sections and
/// for nothing else. Dropping the guard hands the mutex to the most urgent waiter.
///
/// An owner that ends with a leaked guard leaves the data in an unknown state: from then on locking
/// fails with [`Error::Abandoned`] until a thread calls [`recover`](Mutex::recover).
///
/// ```no_run
/// use tenon_sync::Mutex;
///
/// static ANGLES: Mutex<[u16; 3]> = Mutex::new([0; 3]);
///
/// ANGLES.lock()?[1] = 90;
/// # Ok::<(), tenon_sync::Error>(())
/// ```
///
/// The thread that locked the mutex unlocks it: a guard cannot be sent to another thread.
///
/// ```compile_fail
/// # static ANGLES: tenon_sync::Mutex<[u16; 3]> = tenon_sync::Mutex::new([0; 3]);
/// fn send(_: impl Send) {}
/// send(ANGLES.lock());
/// ```
pub struct Mutex<T> {
    pub(crate) raw: RawMutex,
    data: UnsafeCell<T>,
}

// SAFETY: only the thread that owns the mutex accesses the data, which is sent from owner to owner.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex with priority inheritance.
    pub const fn new(data: T) -> Self {
        Self::with(data, Protocol::Inherit)
    }

    /// An unlocked mutex with a priority ceiling: its owner runs at least at priority `ceiling`,
    /// which no thread that locks it may exceed.
    pub const fn with_ceiling(data: T, ceiling: Priority) -> Self {
        Self::with(data, Protocol::Protect(ceiling))
    }

    const fn with(data: T, protocol: Protocol) -> Self {
        Self {
            raw: RawMutex::with(protocol, Robustness::Robust),
            data: UnsafeCell::new(data),
        }
    }

    /// Locks the mutex, blocking while it is owned.
    #[inline(always)]
    pub fn lock(&'static self) -> Result<MutexGuard<T>, Error> {
        self.guard(self.raw.lock())
    }

    /// Locks the mutex, blocking until `deadline`.
    #[inline(always)]
    pub fn lock_until(&'static self, deadline: Instant) -> Result<MutexGuard<T>, Error> {
        self.guard(self.raw.lock_until(deadline))
    }

    /// Locks the mutex if it is not owned.
    #[inline(always)]
    pub fn try_lock(&'static self) -> Result<MutexGuard<T>, Error> {
        self.guard(self.raw.try_lock())
    }

    /// Locks the mutex of an owner that ended; the caller restores the data.
    pub fn recover(&'static self) -> Result<MutexGuard<T>, Error> {
        let recovered = self.raw.recover();
        self.guard(recovered.map(|()| Acquired::Consistent))
    }

    /// The guard of an acquired mutex.
    #[inline(always)]
    pub(crate) fn guard(
        &'static self,
        acquired: Result<Acquired, MutexError>,
    ) -> Result<MutexGuard<T>, Error> {
        match acquired {
            Ok(Acquired::Consistent) => Ok(MutexGuard {
                mutex: self,
                of_this_thread: PhantomData,
            }),
            Ok(Acquired::OwnerDied) => {
                // Only `recover` may lock it. This thread owns it, so that unlocking succeeds.
                let _ = self.raw.unlock();
                Err(Error::Abandoned)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl From<MutexError> for Error {
    fn from(error: MutexError) -> Self {
        match error {
            MutexError::AlreadyOwned => Self::Owned,
            MutexError::Busy => Self::Busy,
            MutexError::TimedOut => Self::TimedOut,
            MutexError::NotOwner => Self::NotOwner,
            MutexError::Unrecoverable => Self::Abandoned,
            MutexError::AboveCeiling => Self::AboveCeiling,
            MutexError::OtherMutex => Self::OtherMutex,
        }
    }
}

/// Access to the data of a [`Mutex`]; unlocks it when dropped.
pub struct MutexGuard<T: 'static> {
    mutex: &'static Mutex<T>,
    of_this_thread: PhantomData<*const ()>,
}

impl<T> MutexGuard<T> {
    /// The mutex, which stays locked without a guard.
    pub(crate) fn into_mutex(self) -> &'static Mutex<T> {
        ManuallyDrop::new(self).mutex
    }
}

impl<T> Deref for MutexGuard<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: a guard exists only while this thread owns the mutex.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T> DerefMut for MutexGuard<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: a guard exists only while this thread owns the mutex, and `self` is borrowed
        // exclusively.
        unsafe { &mut *self.mutex.data.get() }
    }
}

impl<T> Drop for MutexGuard<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // This thread owns it, so that unlocking succeeds.
        let _ = self.mutex.raw.unlock();
    }
}

impl<T: fmt::Debug> fmt::Debug for MutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}
