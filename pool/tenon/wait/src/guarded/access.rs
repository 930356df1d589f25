//! [`Waking`] and [`Waiting`]: access to an object with wake-up or blocking.

use crate::{Guarded, Masked, TimedOut, WaitQueue, WaitValue};
use core::ops::Deref;
use tenon_kernel::kernel::Kernel;
use tenon_machine::irq_mask;
use tenon_machine::object_lock::Guard;
use tenon_time::Instant;

/// Token: as [`Masked`]; and a more urgent thread that is woken runs when the object is left.
pub struct Waking(Masked);

impl Waking {
    const NOW: Self = Self(Masked::NOW);
}

impl Deref for Waking {
    type Target = Masked;

    #[inline(always)]
    fn deref(&self) -> &Masked {
        &self.0
    }
}

/// Token: as [`Masked`], in a thread that entered `object` and may block.
pub struct Waiting<T: 'static> {
    object: &'static Guarded<T>,
    guard: Guard<'static>,
    masked: Masked,
}

impl<T> Waiting<T> {
    /// Waits in a queue of the object until woken, at the latest until `deadline`. Other threads
    /// enter the object meanwhile, so its state must be read again.
    #[inline(always)]
    pub fn wait(
        &self,
        queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        let deadline = deadline.map(Instant::nanoseconds);
        queue(&self.object.state)
            .0
            .wait_in(self.kernel(), deadline, &self.guard)
    }

    /// As [`wait`](Waiting::wait), with a value that the waking code reads by
    /// [`wake_each`](WaitQueue::wake_each) and can replace. Returns the value afterwards.
    #[inline(always)]
    pub fn wait_with(
        &self,
        queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
        deadline: Option<Instant>,
        value: WaitValue,
    ) -> Result<WaitValue, TimedOut> {
        let thread = self.kernel().current();
        thread.wait_value().set(value);
        self.wait(queue, deadline)?;
        Ok(thread.wait_value().get())
    }

    /// Ends the current thread after `action`. A thread that `action` wakes finds it ended.
    pub fn end(&self, action: impl FnOnce(&Waking)) -> ! {
        action(&Waking::NOW);
        self.kernel().current().exit(self.kernel());
        hw_arch::cpu::park()
    }
}

impl<T> Deref for Waiting<T> {
    type Target = Masked;

    #[inline(always)]
    fn deref(&self) -> &Masked {
        &self.masked
    }
}

/// The result of a fast path that failed with interrupts masked and the object locked, for the slow
/// path out of line; holds the previous interrupt mask.
struct Locked(u64);

impl<T> Guarded<T> {
    /// Enters the object for an `action` that may wake threads: a more urgent one runs before this
    /// returns, or at the end of the calling interrupt handler.
    #[inline(always)]
    pub fn waking<R>(&self, action: impl FnOnce(&T, &Waking) -> R) -> R {
        Kernel::with_reschedule(|_| self.lock.locked(|| action(&self.state, &Waking::NOW)))
    }

    /// Enters the object for an `attempt` that neither wakes threads nor blocks. If that returns
    /// none, calls `action` as [`waking`](Guarded::waking) does, without leaving the object in
    /// between.
    #[inline(always)]
    pub fn try_or_wake<R>(
        &self,
        attempt: impl FnOnce(&T, &Masked) -> Option<R>,
        action: impl FnOnce(&T, &Waking) -> R,
    ) -> R {
        self.attempt(attempt)
            .unwrap_or_else(|Locked(mask)| self.wake_slow(mask, action))
    }

    #[cold]
    #[inline(never)]
    fn wake_slow<R>(&self, mask: u64, action: impl FnOnce(&T, &Waking) -> R) -> R {
        Kernel::with_reschedule_from(mask, |_| {
            // SAFETY: `attempt` acquired the lock and leaked the guard once for this call.
            let _guard = unsafe { self.lock.adopt_guard() };
            action(&self.state, &Waking::NOW)
        })
    }

    /// Enters the object for an `attempt` that neither wakes threads nor blocks. If that returns
    /// none, calls `action` as [`waiting`](Guarded::waiting) does, without leaving the object in
    /// between.
    #[inline(always)]
    pub fn try_or_wait<R>(
        &'static self,
        attempt: impl FnOnce(&T, &Masked) -> Option<R>,
        action: impl FnOnce(&T, &Waiting<T>) -> R,
    ) -> R {
        self.attempt(attempt)
            .unwrap_or_else(|Locked(mask)| self.wait_slow(mask, action))
    }

    /// Enters the object for an `attempt`, and keeps it locked if that returns none.
    #[inline(always)]
    fn attempt<R>(&self, attempt: impl FnOnce(&T, &Masked) -> Option<R>) -> Result<R, Locked> {
        let mask = irq_mask::mask();
        let guard = self.lock.lock();
        let Some(result) = attempt(&self.state, &Masked::NOW) else {
            guard.leak();
            return Err(Locked(mask));
        };
        drop(guard);
        // SAFETY: `attempt` has returned and the lock is released.
        unsafe { irq_mask::restore(mask) };
        Ok(result)
    }

    #[cold]
    #[inline(never)]
    fn wait_slow<R>(&'static self, mask: u64, action: impl FnOnce(&T, &Waiting<T>) -> R) -> R {
        Kernel::with_blocking_from(mask, |_| {
            let waiting = Waiting {
                object: self,
                // SAFETY: `attempt` acquired the lock and leaked the guard once for this call.
                guard: unsafe { self.lock.adopt_guard() },
                masked: Masked::NOW,
            };
            action(&self.state, &waiting)
        })
    }

    /// Enters the object for an `action` that may block. A call from an interrupt handler ends the
    /// image with a message.
    #[inline(always)]
    pub fn waiting<R>(&'static self, action: impl FnOnce(&T, &Waiting<T>) -> R) -> R {
        Kernel::with_blocking(|_| {
            let waiting = Waiting {
                object: self,
                guard: self.lock.lock(),
                masked: Masked::NOW,
            };
            action(&self.state, &waiting)
        })
    }
}
