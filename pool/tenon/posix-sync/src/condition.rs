//! The condition variable (POSIX.1-2017, `pthread_cond_*`).

use crate::mutex::attributes::{ConditionAttributes, given};
use crate::mutex::{Mutex, errno};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_int;
use core::mem::MaybeUninit;
use tenon_libc::Errno;
use tenon_libc::errno::number;
use tenon_libc::object::{Object, UNMADE, at};
use tenon_libc::time::{self, Clock, Limit, Timespec};
use tenon_pthread::wait;
use tenon_sync::raw::{MutexError, RawCondvar};

/// Words of C's `pthread_cond_t` for the raw condition variable.
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

// SAFETY: the boolean is read once it is made, and written before.
unsafe impl Object for Condition {
    const MARK: u32 = 0x7e50_0002;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }

    fn make_of_zeros(&self) -> Result<(), Errno> {
        self.make(Clock::Realtime);
        Ok(())
    }
}

impl Condition {
    fn make(&self, clock: Clock) {
        // SAFETY: nobody uses it before it is made.
        unsafe { (*self.raw.get()).write(RawCondvar::new()) };
        self.monotonic.set(clock == Clock::Monotonic);
        self.mark.set(Self::MARK);
    }

    fn raw(&'static self) -> &'static RawCondvar {
        // SAFETY: it is made, as its mark was looked at.
        unsafe { (*self.raw.get()).assume_init_ref() }
    }

    fn clock(&self) -> Clock {
        if self.monotonic.get() {
            Clock::Monotonic
        } else {
            Clock::Realtime
        }
    }

    /// Waits to be notified. A cancel acts when the mutex is the thread's again; a signal, or a step
    /// of the clock, ends the wait as if it had been notified, which the standard allows.
    fn wait(&'static self, mutex: &'static Mutex, limit: Limit<'_>) -> Result<(), Errno> {
        wait::attend();
        let deadline = limit.instant()?;
        let again = mutex.again().get();
        if !mutex.raw().is_held() {
            return Err(Errno::EPERM);
        }
        mutex.again().set(0);
        let (woken, interrupted) =
            wait::that_may_end(|over| self.raw().wait_unless(mutex.raw(), deadline, over));
        if mutex.raw().is_held() {
            mutex.again().set(again);
        }
        match woken {
            Ok(acquired) => mutex.got(acquired),
            Err(MutexError::TimedOut) if interrupted => {
                wait::attend();
                Ok(())
            }
            Err(error) => Err(errno(error)),
        }
    }

    fn unmake(&'static self) -> Result<(), Errno> {
        if self.raw().has_waiters() {
            return Err(Errno::EBUSY);
        }
        self.mark.set(UNMADE);
        Ok(())
    }
}

/// Makes a condition variable.
///
/// # Safety
///
/// There is a place for it; the attributes are null or a `pthread_condattr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_cond_init(
    condition: *mut Condition,
    attributes: *const ConditionAttributes,
) -> c_int {
    // SAFETY: the caller's contract; zeros are a condition variable that was not made.
    number(unsafe {
        given(attributes, ConditionAttributes::USUAL).map(|attributes| {
            condition.write_bytes(0, 1);
            (*condition).make(attributes.clock());
        })
    })
}

/// Writes functions on a condition variable.
macro_rules! functions {
    ($($(#[$doc:meta])*
        $name:ident($condition:ident $(, $argument:ident: $type:ty)*) => $do:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The condition variable is a `pthread_cond_t`, and pointers lead to what they say.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $condition: *const Condition $(, $argument: $type)*
            ) -> c_int {
                // SAFETY: the caller's contract.
                number(unsafe { at($condition).and_then(|$condition| $do) })
            }
        )*
    };
}

functions! {
    /// Unmakes a condition variable that nobody waits for.
    pthread_cond_destroy(condition) => condition.unmake();
    /// Notifies the first who waits.
    pthread_cond_signal(condition) => {
        condition.raw().notify_one();
        Ok(())
    };
    /// Notifies all who wait.
    pthread_cond_broadcast(condition) => {
        condition.raw().notify_all();
        Ok(())
    };
    /// Waits to be notified.
    pthread_cond_wait(condition, mutex: *const Mutex) => condition.wait(at(mutex)?, Limit::NONE);
    /// Waits to be notified, at the latest until the condition variable's clock shows `time`.
    pthread_cond_timedwait(condition, mutex: *const Mutex, time: *const Timespec) => {
        condition.wait(at(mutex)?, Limit::at(condition.clock(), time)?)
    };
    /// Waits to be notified, at the latest until a clock shows `time`.
    pthread_cond_clockwait(
        condition, mutex: *const Mutex, clock: time::Id, time: *const Timespec
    ) => condition.wait(at(mutex)?, Limit::at(Clock::of(clock)?, time)?);
}
