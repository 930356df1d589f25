//! POSIX semaphores, unnamed and named (POSIX.1-2017, `sem_*`).
//!
//! A unit that is posted while threads wait goes to the most urgent of them, and to the one that has
//! waited longest among equals. Posting neither blocks nor allocates: a timer handler may post.

mod named;

use core::cell::Cell;
use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_libc::object::{Object, UNMADE, at};
use tenon_libc::time::{self, Clock, Limit, Timespec};
use tenon_pthread::wait::{self, Attended, Cut};
use tenon_thread::wait::{Guarded, WaitQueue};

/// `SEM_VALUE_MAX` of `<limits.h>`.
pub const SEM_VALUE_MAX: u32 = 0x7fff_ffff;

struct State {
    value: Cell<u32>,
    waiters: WaitQueue,
}

// SAFETY: it is not `Sync`; threads reach it inside a `Guarded`.
unsafe impl Send for State {}

/// `sem_t` (`<semaphore.h>`).
#[repr(C)]
pub struct Semaphore {
    mark: Cell<u32>,
    named: Cell<u32>,
    state: Guarded<State>,
    _room: [u64; 5 - size_of::<Guarded<State>>() / 8],
}

const _: () = assert!(size_of::<Semaphore>() == 48);

// SAFETY: a semaphore of zeros is refused, so that its state is read once it is made.
unsafe impl Object for Semaphore {
    const MARK: u32 = 0x7e50_0006;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }
}

// SAFETY: the state is guarded, and the rest is changed by whoever makes or unmakes it.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    /// One that was not made.
    pub(crate) const fn unmade() -> Self {
        Self {
            mark: Cell::new(UNMADE),
            named: Cell::new(1),
            state: Guarded::new(State {
                value: Cell::new(0),
                waiters: WaitQueue::new(),
            }),
            _room: [0; _],
        }
    }

    /// Makes it anew, with `value` units.
    pub(crate) fn make(&self, value: u32) {
        self.state.masked(|state, _| state.value.set(value));
        self.mark.set(Self::MARK);
    }

    /// Unmakes it.
    pub(crate) fn unmake(&self) {
        self.mark.set(UNMADE);
    }

    fn post(&self) -> Result<(), Errno> {
        self.state.waking(|state, waking| {
            if state.waiters.wake(waking).is_some() {
                return Ok(());
            }
            let value = state.value.get();
            if value >= SEM_VALUE_MAX {
                return Err(Errno::EOVERFLOW);
            }
            state.value.set(value + 1);
            Ok(())
        })
    }

    fn try_wait(&self) -> Result<(), Errno> {
        self.state.masked(|state, _| {
            let value = state.value.get().checked_sub(1);
            state.value.set(value.ok_or(Errno::EAGAIN)?);
            Ok(())
        })
    }

    /// Takes a unit, and waits for it: a cancellation point.
    fn wait(&'static self, limit: Limit<'_>) -> Result<(), Errno> {
        wait::attend();
        if self.try_wait().is_ok() {
            return Ok(());
        }
        loop {
            let deadline = limit.instant()?;
            let waited = self.state.waiting(|state, waiting| {
                if let Some(value) = state.value.get().checked_sub(1) {
                    state.value.set(value);
                    return Ok(());
                }
                wait::interruptible(waiting, |state| &state.waiters, deadline)
            });
            match waited {
                Ok(()) => return Ok(()),
                Err(Cut::TimedOut) => return Err(Errno::ETIMEDOUT),
                Err(Cut::Interrupted) => {
                    if wait::attend() == Attended::Interrupt {
                        return Err(Errno::EINTR);
                    }
                }
            }
        }
    }

    fn destroy(&self) -> Result<(), Errno> {
        if self.named.get() != 0 {
            return Err(Errno::EINVAL);
        }
        let waited_for = self.state.masked(|state, _| !state.waiters.is_empty());
        if waited_for {
            return Err(Errno::EBUSY);
        }
        self.unmake();
        Ok(())
    }
}

/// Makes a semaphore.
///
/// # Safety
///
/// There is a place for it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sem_init(semaphore: *mut Semaphore, _shared: c_int, value: u32) -> c_int {
    if value > SEM_VALUE_MAX {
        return Errno::EINVAL.raise();
    }
    // SAFETY: the caller's contract.
    unsafe {
        semaphore.write(Semaphore::unmade());
        (*semaphore).named.set(0);
        (*semaphore).make(value);
    }
    0
}

/// Writes functions on a semaphore that report by errno.
macro_rules! functions {
    ($($(#[$doc:meta])*
        $name:ident($semaphore:ident $(, $argument:ident: $type:ty)*) => $do:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The semaphore is a `sem_t`, and pointers lead to what they say.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $semaphore: *const Semaphore $(, $argument: $type)*
            ) -> c_int {
                // SAFETY: the caller's contract.
                report(unsafe { at($semaphore).and_then(|$semaphore| $do) })
            }
        )*
    };
}

functions! {
    /// Unmakes a semaphore without a name that nobody waits for.
    sem_destroy(semaphore) => semaphore.destroy();
    /// Posts a unit.
    sem_post(semaphore) => semaphore.post();
    /// Takes a unit if there is one.
    sem_trywait(semaphore) => semaphore.try_wait();
    /// Takes a unit, and waits until there is one.
    sem_wait(semaphore) => semaphore.wait(Limit::NONE);
    /// Takes a unit, and waits at the latest until the realtime clock shows `time`.
    sem_timedwait(semaphore, time: *const Timespec) => {
        semaphore.wait(Limit::at(Clock::Realtime, time)?)
    };
    /// Takes a unit, and waits at the latest until a clock shows `time`.
    sem_clockwait(semaphore, clock: time::Id, time: *const Timespec) => {
        semaphore.wait(Limit::at(Clock::of(clock)?, time)?)
    };
    /// Reads how many units there are; 0 if somebody waits.
    sem_getvalue(semaphore, value: *mut c_int) => {
        value.write(semaphore.state.masked(|state, _| state.value.get()) as c_int);
        Ok(())
    };
}
