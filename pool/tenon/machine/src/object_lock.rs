//! Lock of an object that several cores share.

use crate::options;
use core::cell::Cell;
use core::fmt;
use core_sync::raw::{RawMutex as _, RawTicketLock, Ticket};

/// A ticket lock in an image for several cores; nothing in an image for one core, where masked
/// interrupts exclude all other code. It is acquired with interrupts masked.
pub struct ObjectLock(RawTicketLock);

/// Protects the state of priority inheritance, which spans several mutexes. Only contended mutexes
/// acquire it, before the lock of any object. No code holds the locks of two objects.
pub static PI_CHAIN_LOCK: ObjectLock = ObjectLock::new();

impl ObjectLock {
    /// A free lock.
    pub const fn new() -> Self {
        Self(RawTicketLock::INIT)
    }

    /// Calls `action` with the lock held.
    #[inline(always)]
    pub fn locked<R>(&self, action: impl FnOnce() -> R) -> R {
        let guard = self.lock();
        let result = action();
        drop(guard);
        result
    }

    /// Acquires the lock until the guard is dropped.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_> {
        let guard = Guard {
            lock: self,
            ticket: Cell::new(None),
        };
        guard.reacquire();
        guard
    }

    /// The guard of a lock that is held because its guard was [leaked](Guard::leak).
    ///
    /// # Safety
    ///
    /// The lock is held, and this is called once for each leaked guard.
    #[inline(always)]
    pub unsafe fn adopt_guard(&self) -> Guard<'_> {
        let ticket = if options::cores() > 1 {
            // SAFETY: the lock is held, and its only guard was leaked, so no other guard has the
            // ticket.
            Some(unsafe { self.0.ticket() })
        } else {
            None
        };
        Guard {
            lock: self,
            ticket: Cell::new(ticket),
        }
    }
}

impl Default for ObjectLock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ObjectLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObjectLock")
    }
}

/// Guard of an [`ObjectLock`].
pub struct Guard<'a> {
    lock: &'a ObjectLock,
    /// None while the lock is released, and in an image for one core.
    ticket: Cell<Option<Ticket>>,
}

impl<'a> Guard<'a> {
    /// Its lock.
    #[inline(always)]
    pub fn object_lock(&self) -> &'a ObjectLock {
        self.lock
    }

    /// Keeps the lock held, for [`ObjectLock::adopt_guard`]: an out-of-line function need not be
    /// passed the guard.
    #[inline(always)]
    pub fn leak(self) {
        core::mem::forget(self);
    }

    /// Releases the lock until [`reacquire`](Guard::reacquire).
    #[inline(always)]
    pub fn release(&self) {
        if options::cores() > 1
            && let Some(ticket) = self.ticket.take()
        {
            // SAFETY: this guard acquired the ticket, and has not released it since.
            unsafe { self.lock.0.unlock(ticket) };
        }
    }

    /// Acquires the lock again.
    #[inline(always)]
    pub fn reacquire(&self) {
        if options::cores() > 1 {
            self.ticket.set(Some(self.lock.0.lock()));
        }
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.release();
    }
}
