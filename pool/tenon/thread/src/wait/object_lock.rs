//! The lock of an object that several cores share.

use crate::options;
use core::cell::Cell;
use core::fmt;
use core_sync::raw::{RawMutex as _, RawTicketLock, Ticket};

/// A ticket lock in an image for several cores, nothing in one for a single core, where masked
/// interrupts are enough. It is taken with interrupts masked.
pub(crate) struct ObjectLock(RawTicketLock);

/// What concerns more than one mutex: who lends whom a priority. Taken before the gate of any
/// object, and by contended mutexes only; nobody is in two objects' gates.
pub(crate) static PI_CHAIN_LOCK: ObjectLock = ObjectLock::new();

impl ObjectLock {
    pub(crate) const fn new() -> Self {
        Self(RawTicketLock::INIT)
    }

    /// Calls `action` while no other core is within.
    #[inline(always)]
    pub(crate) fn locked<R>(&self, action: impl FnOnce() -> R) -> R {
        let guard = self.lock();
        let result = action();
        drop(guard);
        result
    }

    /// Enters; the returned leaves at its end.
    #[inline(always)]
    pub(crate) fn lock(&self) -> Guard<'_> {
        let guard = Guard {
            gate: self,
            ticket: Cell::new(None),
        };
        guard.reacquire();
        guard
    }

    /// The stay of who entered and [went on](Stay::go_on).
    ///
    /// # Safety
    ///
    /// The caller is within, and this is called once for each stay that went on.
    #[inline(always)]
    pub(crate) unsafe fn adopt_guard(&self) -> Guard<'_> {
        let ticket = if options::cores() > 1 {
            // SAFETY: the caller's contract.
            Some(unsafe { self.0.ticket() })
        } else {
            None
        };
        Guard {
            gate: self,
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
        f.write_str("Gate")
    }
}

/// A stay within a [`ObjectLock`].
pub(crate) struct Guard<'a> {
    gate: &'a ObjectLock,
    /// None while it is suspended, and in an image for one core.
    ticket: Cell<Option<Ticket>>,
}

impl<'a> Guard<'a> {
    /// The gate one is within.
    #[inline(always)]
    pub(crate) fn object_lock(&self) -> &'a ObjectLock {
        self.gate
    }

    /// Stays within, to be taken up by [`ObjectLock::guard`]: so that what goes out of line need not be
    /// handed the stay.
    #[inline(always)]
    pub(crate) fn leak(self) {
        core::mem::forget(self);
    }

    /// Leaves until [`resume`](Stay::resume).
    #[inline(always)]
    pub(crate) fn release(&self) {
        if options::cores() > 1
            && let Some(ticket) = self.ticket.take()
        {
            // SAFETY: this stay took the ticket.
            unsafe { self.gate.0.unlock(ticket) };
        }
    }

    /// Enters again.
    #[inline(always)]
    pub(crate) fn reacquire(&self) {
        if options::cores() > 1 {
            self.ticket.set(Some(self.gate.0.lock()));
        }
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.release();
    }
}
