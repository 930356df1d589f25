//! [`Handle`], the reference to a spawned thread.

use super::Error;
use core::fmt;
use core_list::Linked;
use core_sched::Priority;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::Thread;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::object_lock::PI_CHAIN_LOCK;
use tenon_machine::options;
use tenon_time::Instant;

/// Reference to a spawned thread, whether it has ended or not.
///
/// The storage can hold another thread after the end: an operation on a thread that has ended has
/// no effect and returns [`Error::Ended`]. With several cores, an unpark that races with the end of
/// the thread on another core can reach the next thread of the storage; the first park of that
/// thread then returns at once.
#[derive(Clone, Copy)]
pub struct Handle {
    thread: &'static Thread,
    id: u64,
}

impl Handle {
    /// Calls `action` on the thread unless it has ended, then reschedules.
    #[inline(always)]
    fn with<R>(self, action: impl FnOnce(&Kernel, &'static Thread) -> R) -> Result<R, Error> {
        Kernel::with_reschedule(|kernel| {
            if self.is_alive() {
                Ok(action(kernel, self.thread))
            } else {
                Err(Error::Ended)
            }
        })
    }

    /// Whether it has not ended; interrupts are masked.
    #[inline(always)]
    fn is_alive(self) -> bool {
        if options::cores() > 1 {
            return PI_CHAIN_LOCK.locked(|| self.thread.id() == self.id);
        }
        self.thread.id() == self.id
    }

    /// Whether it has ended.
    pub fn has_ended(self) -> bool {
        without_irqs(|| !self.is_alive())
    }

    /// As [`Thread::unpark`](super::Thread::unpark). Also callable from an interrupt handler.
    #[inline(always)]
    pub fn unpark(self) -> Result<(), Error> {
        self.with(|kernel, thread| thread.unpark(kernel))
    }

    /// As [`Thread::set_priority`](super::Thread::set_priority).
    pub fn set_priority(self, priority: Priority) -> Result<(), Error> {
        with_living(self, |kernel, thread| {
            thread.set_base_priority(kernel, priority);
            kernel.record_priorities(thread);
            kernel.resume_background(None);
        })
    }

    /// Its base priority.
    pub fn priority(self) -> Result<Priority, Error> {
        with_living(self, |_, thread| thread.base_priority())
    }

    /// Waits until it has ended and its storage is free.
    pub fn join(self) -> Result<(), Error> {
        self.join_slow(None)
    }

    /// As [`join`](Handle::join), at the latest until `deadline`.
    pub fn join_until(self, deadline: Instant) -> Result<(), Error> {
        self.join_slow(Some(deadline))
    }

    fn join_slow(self, deadline: Option<Instant>) -> Result<(), Error> {
        let outcome = Kernel::with_blocking(|kernel| {
            let guard = self.thread.joiners().lock();
            if kernel.current().is(&self.thread) && self.thread.id() == self.id {
                return Err(Error::Deadlock);
            }
            let deadline = deadline.map(Instant::nanoseconds);
            let ended = self.thread.wait_for_end(kernel, self.id, deadline, &guard);
            ended.map_err(|_| Error::TimedOut)
        });
        if options::cores() > 1 && outcome.is_ok() {
            self.wait_for_storage();
        }
        outcome
    }

    /// Spins until another core has switched away from the stack of the thread that ended.
    fn wait_for_storage(self) {
        while self.thread.is_exiting() {
            core::hint::spin_loop();
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread number {}", self.id)
    }
}

/// The handle of a thread that has not ended; interrupts are masked.
pub fn handle_of(thread: &'static Thread) -> Handle {
    let id = thread.id();
    Handle { thread, id }
}

/// Calls `action` on the thread unless it has ended, then reschedules. `PI_CHAIN_LOCK` is held, so
/// that the thread does not end during `action`.
pub fn with_living<R>(
    handle: Handle,
    action: impl FnOnce(&Kernel, &'static Thread) -> R,
) -> Result<R, Error> {
    Kernel::with_reschedule(|kernel| {
        PI_CHAIN_LOCK.locked(|| {
            if handle.thread.id() == handle.id {
                Ok(action(kernel, handle.thread))
            } else {
                Err(Error::Ended)
            }
        })
    })
}
