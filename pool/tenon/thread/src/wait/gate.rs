//! The lock of an object that several cores share.

use crate::options;
use core::cell::Cell;
use core::fmt;
use core_sync::raw::{RawMutex as _, RawTicketLock, Ticket};

/// A ticket lock in an image for several cores, nothing in one for a single core, where masked
/// interrupts are enough. It is taken with interrupts masked.
pub(crate) struct Gate(RawTicketLock);

/// What concerns more than one mutex: who lends whom a priority. Taken before the gate of any
/// object, and by contended mutexes only; nobody is in two objects' gates.
pub(crate) static CHAINS: Gate = Gate::new();

impl Gate {
    pub(crate) const fn new() -> Self {
        Self(RawTicketLock::INIT)
    }

    /// Calls `action` while no other core is within.
    #[inline(always)]
    pub(crate) fn within<R>(&self, action: impl FnOnce() -> R) -> R {
        let stay = self.enter();
        let result = action();
        drop(stay);
        result
    }

    /// Enters; the returned leaves at its end.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Stay<'_> {
        let stay = Stay {
            gate: self,
            ticket: Cell::new(None),
        };
        stay.resume();
        stay
    }

    /// The stay of who entered and [went on](Stay::go_on).
    ///
    /// # Safety
    ///
    /// The caller is within, and this is called once for each stay that went on.
    #[inline(always)]
    pub(crate) unsafe fn stay(&self) -> Stay<'_> {
        let ticket = if options::cores() > 1 {
            // SAFETY: the caller's contract.
            Some(unsafe { self.0.ticket() })
        } else {
            None
        };
        Stay {
            gate: self,
            ticket: Cell::new(ticket),
        }
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

/// A stay within a [`Gate`].
pub(crate) struct Stay<'a> {
    gate: &'a Gate,
    /// None while it is suspended, and in an image for one core.
    ticket: Cell<Option<Ticket>>,
}

impl<'a> Stay<'a> {
    /// The gate one is within.
    #[inline(always)]
    pub(crate) fn gate(&self) -> &'a Gate {
        self.gate
    }

    /// Stays within, to be taken up by [`Gate::stay`]: so that what goes out of line need not be
    /// handed the stay.
    #[inline(always)]
    pub(crate) fn go_on(self) {
        core::mem::forget(self);
    }

    /// Leaves until [`resume`](Stay::resume).
    #[inline(always)]
    pub(crate) fn suspend(&self) {
        if options::cores() > 1
            && let Some(ticket) = self.ticket.take()
        {
            // SAFETY: this stay took the ticket.
            unsafe { self.gate.0.unlock(ticket) };
        }
    }

    /// Enters again.
    #[inline(always)]
    pub(crate) fn resume(&self) {
        if options::cores() > 1 {
            self.ticket.set(Some(self.gate.0.lock()));
        }
    }
}

impl Drop for Stay<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.suspend();
    }
}
