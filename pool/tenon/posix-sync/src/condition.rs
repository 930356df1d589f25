//! Condition variables (POSIX.1-2017, `pthread_cond_*`).

use crate::mutex::attributes::{ConditionAttributes, or_default};
use crate::mutex::{Mutex, errno};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_int;
use core::mem::MaybeUninit;
use tenon_libc::Errno;
use tenon_libc::errno::number;
use tenon_libc::object::{DESTROYED, Object, at};
use tenon_libc::time::{self, Clock, Timeout, Timespec};
use tenon_pthread::wait;
use tenon_sync::raw::{MutexError, RawCondvar};
use tenon_thread::trace::{self, Kind, Name};

/// Words of `pthread_cond_t` that hold the raw condition variable.
const WORDS: usize = 6;

/// `pthread_cond_t` (`<sys/types.h>`).
#[repr(C)]
pub struct Condition {
    mark: Cell<u32>,
    monotonic: Cell<bool>,
    raw: UnsafeCell<MaybeUninit<RawCondvar>>,
    _room: [u64; WORDS - size_of::<RawCondvar>() / 8],
}

const _: () = assert!(size_of::<Condition>() == 8 + WORDS * 8 && align_of::<Condition>() == 8);

// SAFETY: the fields are written by the initialisation and read only after it.
unsafe impl Object for Condition {
    const MARK: u32 = 0x7e50_0002;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }

    fn init_static(&self) -> Result<(), Errno> {
        self.initialise(Clock::Realtime);
        Ok(())
    }
}

impl Condition {
    fn initialise(&self, clock: Clock) {
        // SAFETY: no thread uses an object before it is initialised.
        unsafe { (*self.raw.get()).write(RawCondvar::new()) };
        self.monotonic.set(clock == Clock::Monotonic);
        self.mark.set(Self::MARK);
        trace::describe(self, Kind::Condition, Name::None);
    }

    fn raw(&'static self) -> &'static RawCondvar {
        // SAFETY: the object is initialised, as `at` checked its mark.
        unsafe { (*self.raw.get()).assume_init_ref() }
    }

    fn clock(&self) -> Clock {
        if self.monotonic.get() {
            Clock::Monotonic
        } else {
            Clock::Realtime
        }
    }

    /// Waits for a notification. A cancellation request acts once the thread has locked the mutex
    /// recursion. A signal, or a step of the clock, ends the wait as a spurious wake-up, which the
    /// standard permits.
    fn wait(&'static self, mutex: &'static Mutex, timeout: Timeout<'_>) -> Result<(), Errno> {
        wait::act_on_pending();
        let deadline = timeout.instant()?;
        let recursion = mutex.recursion().get();
        if !mutex.raw().is_held() {
            return Err(Errno::EPERM);
        }
        mutex.recursion().set(0);
        let (woken, interrupted) =
            wait::interruptible_by(|over| self.raw().wait_unless(mutex.raw(), deadline, over));
        if mutex.raw().is_held() {
            mutex.recursion().set(recursion);
        }
        match woken {
            Ok(acquired) => mutex.acquired_as(acquired),
            Err(MutexError::TimedOut) if interrupted => {
                wait::act_on_pending();
                Ok(())
            }
            Err(error) => Err(errno(error)),
        }
    }

    fn destroy_object(&'static self) -> Result<(), Errno> {
        if self.raw().has_waiters() {
            return Err(Errno::EBUSY);
        }
        self.mark.set(DESTROYED);
        Ok(())
    }
}

/// Initialises a condition variable.
///
/// # Safety
///
/// `condition` is valid for a write; `attributes` is null or points to a `pthread_condattr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_cond_init(
    condition: *mut Condition,
    attributes: *const ConditionAttributes,
) -> c_int {
    // SAFETY: `condition` is valid for a write, as the caller ensures; zeros are a valid object
    // before its initialisation.
    number(unsafe {
        or_default(attributes, ConditionAttributes::DEFAULT).map(|attributes| {
            condition.write_bytes(0, 1);
            (*condition).initialise(attributes.clock());
        })
    })
}

/// Generates functions on a condition variable.
macro_rules! functions {
    ($($(#[$doc:meta])*
        $name:ident($condition:ident $(, $argument:ident: $type:ty)*) => $do:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The first pointer is null or points to a `pthread_cond_t`, and further pointers are
            /// valid.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $condition: *const Condition $(, $argument: $type)*
            ) -> c_int {
                // SAFETY: `$condition` is null or points to an object of its type, as the caller
                // ensures.
                number(unsafe { at($condition).and_then(|$condition| $do) })
            }
        )*
    };
}

functions! {
    /// Destroys a condition variable without waiters.
    pthread_cond_destroy(condition) => condition.destroy_object();
    /// Notifies the first waiter.
    pthread_cond_signal(condition) => {
        condition.raw().notify_one();
        Ok(())
    };
    /// Notifies all waiters.
    pthread_cond_broadcast(condition) => {
        condition.raw().notify_all();
        Ok(())
    };
    /// Waits for a notification.
    pthread_cond_wait(condition, mutex: *const Mutex) => condition.wait(at(mutex)?, Timeout::NONE);
    /// Waits for a notification until the condition variable's clock reaches `time`.
    pthread_cond_timedwait(condition, mutex: *const Mutex, time: *const Timespec) => {
        condition.wait(at(mutex)?, Timeout::at(condition.clock(), time)?)
    };
    /// Waits for a notification until a clock reaches `time`.
    pthread_cond_clockwait(
        condition, mutex: *const Mutex, clock: time::Id, time: *const Timespec
    ) => condition.wait(at(mutex)?, Timeout::at(Clock::of(clock)?, time)?);
}
