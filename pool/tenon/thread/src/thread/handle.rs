//! [`Handle`], the reference to a spawned thread.

use super::Thread;
use super::error::Error;
use crate::kernel::Kernel;
use crate::time::instant::Instant;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use core_list::Linked;
use core_sched::Priority;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::object_lock::PI_CHAIN_LOCK;
use tenon_machine::options;

/// Some thread was joined. In an image without joins no code sets this, so that the linker knows
/// its value and the exit of a thread does not look for joiners.
static JOINED: AtomicBool = AtomicBool::new(false);

/// Reference to a spawned thread, whether it has ended or not.
///
/// The storage can hold another thread after the end: an operation on a thread that has ended has
/// no effect and returns [`Error::Ended`]. With several cores, an unpark that races with the end of
/// the thread on another core can reach the next thread of the storage; the first park of that
/// thread then returns at once.
///
/// ```no_run
/// use tenon_thread::thread::{self, Error, Priority, Storage};
///
/// static WORKER: Storage<2048> = Storage::new();
///
/// let worker = WORKER.spawn("worker", Priority::new(10), thread::park)?;
/// worker.unpark()?;
/// worker.join()?;
/// assert_eq!(worker.unpark(), Err(Error::Ended));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Handle {
    thread: &'static Thread,
    id: u64,
}

impl Handle {
    /// The handle of a thread that has not ended; interrupts are masked.
    pub(crate) fn of(thread: &'static Thread) -> Self {
        let id = thread.id();
        Self { thread, id }
    }

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

    /// [`with`](Handle::with) under `PI_CHAIN_LOCK`, so that the thread does not end during
    /// `action`.
    pub(crate) fn with_pi_chain_locked<R>(
        self,
        action: impl FnOnce(&Kernel, &'static Thread) -> R,
    ) -> Result<R, Error> {
        Kernel::with_reschedule(|kernel| {
            PI_CHAIN_LOCK.locked(|| {
                if self.thread.id() == self.id {
                    Ok(action(kernel, self.thread))
                } else {
                    Err(Error::Ended)
                }
            })
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

    /// As [`Thread::unpark`]. Also callable from an interrupt handler.
    #[inline(always)]
    pub fn unpark(self) -> Result<(), Error> {
        self.with(|kernel, thread| thread.unpark_in(kernel))
    }

    /// As [`Thread::set_priority`].
    pub fn set_priority(self, priority: Priority) -> Result<(), Error> {
        self.with_pi_chain_locked(|kernel, thread| thread.set_base_priority(kernel, priority))
    }

    /// Its base priority.
    pub fn priority(self) -> Result<Priority, Error> {
        self.with_pi_chain_locked(|_, thread| thread.base_priority())
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
        let outcome = self.thread.joiners().waiting(|_, waiting| {
            JOINED.store(true, Ordering::Relaxed);
            if waiting.current().is(&self.thread) && self.thread.id() == self.id {
                return Err(Error::Deadlock);
            }
            if self.thread.id() != self.id {
                return Ok(());
            }
            let woken = waiting.wait(|joiners| joiners, deadline);
            woken.map_err(|_| Error::TimedOut)
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

impl Thread {
    /// Its handle. It has not ended: it is the current thread, or the caller prevents its end.
    pub fn handle(&'static self) -> Handle {
        without_irqs(|| PI_CHAIN_LOCK.locked(|| Handle::of(self)))
    }

    /// Wakes the threads that joined it; the caller holds the lock of their queue.
    #[inline(always)]
    pub(super) fn wake_joiners(&self, kernel: &Kernel) {
        let joiners = self.joiners.state(kernel);
        if JOINED.load(Ordering::Relaxed) {
            while joiners.wake_in(kernel).is_some() {}
        }
    }

    /// Whether it has ended but its storage is not free yet.
    fn is_exiting(&self) -> bool {
        without_irqs(|| PI_CHAIN_LOCK.locked(|| self.id() == 0)) && self.smp.is_claimed()
    }
}
