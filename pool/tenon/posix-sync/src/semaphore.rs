//! POSIX semaphores, unnamed and named (POSIX.1-2017, `sem_*`).
//!
//! A unit that is posted while threads wait goes to the most urgent of them, and to the one that has
//! waited longest among equals. Posting neither blocks nor allocates: a timer handler may post.

mod named;

use core::cell::Cell;
use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_libc::object::{DESTROYED, Object, at};
use tenon_libc::time::{self, Clock, Timeout, Timespec};
use tenon_pthread::wait::{self, Effect, WaitError};
use tenon_thread::trace::{self, Kind, Name};
use tenon_thread::wait::{Guarded, WaitQueue};

/// `SEM_VALUE_MAX` of `<limits.h>`.
pub const SEM_VALUE_MAX: u32 = 0x7fff_ffff;

struct State {
    value: Cell<u32>,
    waiters: WaitQueue,
}

// SAFETY: the state is not `Sync`; threads access it only through a `Guarded`.
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

// SAFETY: a semaphore of zeros is refused, so that the state is read only after its initialisation.
unsafe impl Object for Semaphore {
    const MARK: u32 = 0x7e50_0006;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }
}

// SAFETY: the state is guarded; the other fields are written by initialisation and destruction
// only.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    /// A semaphore that is not initialised.
    pub(crate) const fn uninitialised() -> Self {
        Self {
            mark: Cell::new(DESTROYED),
            named: Cell::new(1),
            state: Guarded::new(State {
                value: Cell::new(0),
                waiters: WaitQueue::new(),
            }),
            _room: [0; _],
        }
    }

    /// Initialises it with `value` units.
    pub(crate) fn initialise(&self, value: u32) {
        self.state.masked(|state, _| state.value.set(value));
        self.mark.set(Self::MARK);
    }

    /// Marks it as destroyed.
    pub(crate) fn destroy_object(&self) {
        self.mark.set(DESTROYED);
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

    /// Takes a unit, blocking if there is none: a cancellation point.
    fn wait(&'static self, timeout: Timeout<'_>) -> Result<(), Errno> {
        wait::act_on_pending();
        if self.try_wait().is_ok() {
            return Ok(());
        }
        loop {
            let deadline = timeout.instant()?;
            let waited = self.state.waiting(|state, waiting| {
                if let Some(value) = state.value.get().checked_sub(1) {
                    state.value.set(value);
                    return Ok(());
                }
                wait::interruptible(waiting, |state| &state.waiters, deadline)
            });
            match waited {
                Ok(()) => return Ok(()),
                Err(WaitError::TimedOut) => return Err(Errno::ETIMEDOUT),
                Err(WaitError::Interrupted) => {
                    if wait::act_on_pending() == Effect::Interrupt {
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
        self.destroy_object();
        Ok(())
    }
}

/// Initialises a semaphore.
///
/// # Safety
///
/// `semaphore` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sem_init(semaphore: *mut Semaphore, _shared: c_int, value: u32) -> c_int {
    if value > SEM_VALUE_MAX {
        return Errno::EINVAL.raise();
    }
    // SAFETY: `semaphore` is valid for a write, as the caller ensures.
    unsafe {
        semaphore.write(Semaphore::uninitialised());
        (*semaphore).named.set(0);
        (*semaphore).initialise(value);
        trace::describe(&*semaphore, Kind::Semaphore, Name::None);
    }
    0
}

/// Generates functions on a semaphore that report by `errno`.
macro_rules! functions {
    ($($(#[$doc:meta])*
        $name:ident($semaphore:ident $(, $argument:ident: $type:ty)*) => $do:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The first pointer is null or points to a `sem_t`, and further pointers are valid.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $semaphore: *const Semaphore $(, $argument: $type)*
            ) -> c_int {
                // SAFETY: `$semaphore` is null or points to an object of its type, as the caller
                // ensures.
                report(unsafe { at($semaphore).and_then(|$semaphore| $do) })
            }
        )*
    };
}

functions! {
    /// Destroys an unnamed semaphore without waiters.
    sem_destroy(semaphore) => semaphore.destroy();
    /// Posts a unit.
    sem_post(semaphore) => semaphore.post();
    /// Takes a unit if there is one.
    sem_trywait(semaphore) => semaphore.try_wait();
    /// Takes a unit, blocking if there is none.
    sem_wait(semaphore) => semaphore.wait(Timeout::NONE);
    /// Takes a unit, with a timeout of the realtime clock.
    sem_timedwait(semaphore, time: *const Timespec) => {
        semaphore.wait(Timeout::at(Clock::Realtime, time)?)
    };
    /// Takes a unit, with a timeout of a clock.
    sem_clockwait(semaphore, clock: time::Id, time: *const Timespec) => {
        semaphore.wait(Timeout::at(Clock::of(clock)?, time)?)
    };
    /// Reads the value; 0 if threads wait.
    sem_getvalue(semaphore, value: *mut c_int) => {
        value.write(semaphore.state.masked(|state, _| state.value.get()) as c_int);
        Ok(())
    };
}
