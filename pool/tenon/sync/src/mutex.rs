//! The mutex with priority inheritance, and its guard.

use crate::Error;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use tenon_thread::thread::Priority;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Acquired, MutexError, Protocol, RawMutex, Robustness};

/// Data for one thread at a time.
///
/// While others wait, the owner runs by the most urgent priority among them and itself, and so does
/// whoever keeps the owner waiting by a mutex: who is urgent waits for the sections that are locked,
/// and for nothing else. The guard hands over to the most urgent that waits.
///
/// An owner that ends with its guard leaked leaves the data in an unknown state: from then on
/// locking fails with [`Error::Abandoned`] until somebody [`recover`](Mutex::recover)s it.
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
/// Whoever locked it unlocks it: the guard cannot be handed to another thread.
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

// SAFETY: the thread that owns the mutex reaches the data alone; it is sent from one to the next.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// A free mutex around `data` that lends its owner the priority of who waits.
    pub const fn new(data: T) -> Self {
        Self::with(data, Protocol::Inherit)
    }

    /// A free mutex around `data` whose owner runs by the priority `ceiling` at least, which no
    /// thread that locks it may exceed: waiting or not, nobody up to there comes between.
    pub const fn with_ceiling(data: T, ceiling: Priority) -> Self {
        Self::with(data, Protocol::Protect(ceiling))
    }

    const fn with(data: T, protocol: Protocol) -> Self {
        Self {
            raw: RawMutex::with(protocol, Robustness::Robust),
            data: UnsafeCell::new(data),
        }
    }

    /// Locks it, and waits until it can.
    #[inline(always)]
    pub fn lock(&'static self) -> Result<MutexGuard<T>, Error> {
        self.guard(self.raw.lock())
    }

    /// Locks it, and waits until it can, at the latest until `deadline`.
    #[inline(always)]
    pub fn lock_until(&'static self, deadline: Instant) -> Result<MutexGuard<T>, Error> {
        self.guard(self.raw.lock_until(deadline))
    }

    /// Locks it if nobody owns it.
    #[inline(always)]
    pub fn try_lock(&'static self) -> Result<MutexGuard<T>, Error> {
        self.guard(self.raw.try_lock())
    }

    /// Locks it though an owner ended with it; who calls this sets the data right.
    pub fn recover(&'static self) -> Result<MutexGuard<T>, Error> {
        let recovered = self.raw.recover();
        self.guard(recovered.map(|()| Acquired::Consistent))
    }

    /// What was acquired, as a guard.
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
                // So nobody gets it but by `recover`. It is this thread's to unlock.
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

/// The data of a [`Mutex`], until it is dropped; then the mutex is unlocked.
pub struct MutexGuard<T: 'static> {
    mutex: &'static Mutex<T>,
    of_this_thread: PhantomData<*const ()>,
}

impl<T> MutexGuard<T> {
    /// The mutex, which stays locked though there is no guard any more.
    pub(crate) fn into_mutex(self) -> &'static Mutex<T> {
        ManuallyDrop::new(self).mutex
    }
}

impl<T> Deref for MutexGuard<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this thread owns the mutex as long as there is the guard, and there is one.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T> DerefMut for MutexGuard<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the arguments meet the requirements of `get`, as the caller ensures.
        unsafe { &mut *self.mutex.data.get() }
    }
}

impl<T> Drop for MutexGuard<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // It is this thread's to unlock.
        let _ = self.mutex.raw.unlock();
    }
}

impl<T: fmt::Debug> fmt::Debug for MutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}
