//! Threads as others know them.

use super::{Error, Priority, Thread};
use crate::kernel::Kernel;
use crate::options;
use crate::time::Instant;
use crate::wait::PI_CHAIN_LOCK;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use core_list::Linked;

/// Some thread was waited for. In an image without such a wait nothing sets it, so that the linker
/// knows its value, and threads end without a look for who waits.
static JOINED: AtomicBool = AtomicBool::new(false);

/// A thread that was spawned, whether it has ended or not.
///
/// Its storage may hold another thread by now: an operation on a thread that has ended changes
/// nothing and says [`Error::Ended`]. With several cores, an unpark that crosses the thread's end on
/// another core comes to the next thread of its storage, whose first park then returns at once.
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
    number: u64,
}

impl Handle {
    /// Of a thread that has not ended, for who has interrupts masked.
    pub(crate) fn of(thread: &'static Thread) -> Self {
        let number = thread.number();
        Self { thread, number }
    }

    /// Calls `action` on the thread, unless it has ended, and lets others run if need be.
    #[inline(always)]
    fn with<R>(self, action: impl FnOnce(&Kernel, &'static Thread) -> R) -> Result<R, Error> {
        Kernel::with_reschedule(|kernel| {
            if self.is_there() {
                Ok(action(kernel, self.thread))
            } else {
                Err(Error::Ended)
            }
        })
    }

    /// The same in `PI_CHAIN_LOCK`, where it does not end meanwhile.
    pub(crate) fn with_pi_chain_locked<R>(
        self,
        action: impl FnOnce(&Kernel, &'static Thread) -> R,
    ) -> Result<R, Error> {
        Kernel::with_reschedule(|kernel| {
            PI_CHAIN_LOCK.locked(|| {
                if self.thread.number() == self.number {
                    Ok(action(kernel, self.thread))
                } else {
                    Err(Error::Ended)
                }
            })
        })
    }

    /// [`has_ended`](Handle::has_ended), the other way round, for who has interrupts masked.
    #[inline(always)]
    fn is_there(self) -> bool {
        if options::cores() > 1 {
            return PI_CHAIN_LOCK.locked(|| self.thread.number() == self.number);
        }
        self.thread.number() == self.number
    }

    /// Whether it has ended.
    pub fn has_ended(self) -> bool {
        Kernel::without_irqs(|| !self.is_there())
    }

    /// As [`Thread::unpark`]. Also from an interrupt handler.
    #[inline(always)]
    pub fn unpark(self) -> Result<(), Error> {
        self.with(|kernel, thread| thread.unpark_in(kernel))
    }

    /// As [`Thread::set_priority`].
    pub fn set_priority(self, priority: Priority) -> Result<(), Error> {
        self.with_pi_chain_locked(|kernel, thread| thread.set_base_priority(kernel, priority))
    }

    /// Its own priority.
    pub fn priority(self) -> Result<Priority, Error> {
        self.with_pi_chain_locked(|_, thread| thread.own())
    }

    /// Waits until it has ended; then its storage may be used again.
    pub fn join(self) -> Result<(), Error> {
        self.join_slow(None)
    }

    /// Waits until it has ended, at the latest until `deadline`.
    pub fn join_until(self, deadline: Instant) -> Result<(), Error> {
        self.join_slow(Some(deadline))
    }

    fn join_slow(self, deadline: Option<Instant>) -> Result<(), Error> {
        let outcome = self.thread.joiners().waiting(|_, waiting| {
            JOINED.store(true, Ordering::Relaxed);
            if waiting.current().is(&self.thread) && self.thread.number() == self.number {
                return Err(Error::Deadlock);
            }
            if self.thread.number() != self.number {
                return Ok(());
            }
            let turn = waiting.wait(|joiners| joiners, deadline);
            turn.map_err(|_| Error::TimedOut)
        });
        if options::cores() > 1 && outcome.is_ok() {
            self.wait_for_storage();
        }
        outcome
    }

    /// Waits the moment that another core takes to leave the stack of the thread that ended.
    fn wait_for_storage(self) {
        while self.thread.is_exiting() {
            core::hint::spin_loop();
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread number {}", self.number)
    }
}

impl Thread {
    /// A handle of it, for who outlives it. It has not ended: it is the current one, or somebody
    /// sees to that.
    pub fn handle(&'static self) -> Handle {
        Kernel::without_irqs(|| PI_CHAIN_LOCK.locked(|| Handle::of(self)))
    }

    /// Wakes who waits for its end, in the gate of their queue.
    #[inline(always)]
    pub(super) fn wake_joiners(&self, kernel: &Kernel) {
        let joiners = self.joiners().inside(kernel);
        if JOINED.load(Ordering::Relaxed) {
            while joiners.wake_in(kernel).is_some() {}
        }
    }

    /// It has ended, and its storage is not free yet.
    fn is_exiting(&self) -> bool {
        Kernel::without_irqs(|| PI_CHAIN_LOCK.locked(|| self.number() == 0))
            && self.smp().is_claimed()
    }
}
