//! The functions on mutexes that C calls.

use crate::mutex::Mutex;
use crate::mutex::attributes::{MutexAttributes, given};
use core::ffi::c_int;
use tenon_libc::errno::number;
use tenon_libc::object::at;
use tenon_libc::time::{self, Clock, Limit, Timespec};
use tenon_pthread::policy;

/// Makes a mutex.
///
/// # Safety
///
/// There is a place for it; the attributes are null or a `pthread_mutexattr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_mutex_init(
    mutex: *mut Mutex,
    attributes: *const MutexAttributes,
) -> c_int {
    // SAFETY: the caller's contract; zeros are a mutex that was not made.
    number(unsafe {
        given(attributes, MutexAttributes::USUAL).map(|attributes| {
            mutex.write_bytes(0, 1);
            (*mutex).make(&attributes);
        })
    })
}

/// Writes functions on a mutex.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($mutex:ident $(, $argument:ident: $type:ty)*) => $do:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The mutex is a `pthread_mutex_t`, and pointers lead to what they say.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($mutex: *const Mutex $(, $argument: $type)*) -> c_int {
                // SAFETY: the caller's contract.
                number(unsafe { at($mutex).and_then(|$mutex| $do) })
            }
        )*
    };
}

functions! {
    /// Unmakes a mutex that nobody owns.
    pthread_mutex_destroy(mutex) => mutex.unmake();
    /// Locks a mutex.
    pthread_mutex_lock(mutex) => mutex.lock(Limit::NONE);
    /// Locks a mutex if nobody owns it.
    pthread_mutex_trylock(mutex) => mutex.try_lock();
    /// Unlocks a mutex.
    pthread_mutex_unlock(mutex) => mutex.unlock();
    /// Locks a mutex, at the latest when the realtime clock shows `time`.
    pthread_mutex_timedlock(mutex, time: *const Timespec) =>
        mutex.lock(Limit::at(Clock::Realtime, time)?);
    /// Locks a mutex, at the latest when a clock shows `time`.
    pthread_mutex_clocklock(mutex, clock: time::Id, time: *const Timespec) =>
        mutex.lock(Limit::at(Clock::of(clock)?, time)?);
    /// Declares that what a mutex protects is right again.
    pthread_mutex_consistent(mutex) => mutex.make_consistent();
    /// Reads the ceiling of a mutex.
    pthread_mutex_getprioceiling(mutex, ceiling: *mut c_int) =>
        mutex.ceiling().map(|priority| ceiling.write(policy::number(priority)));
    /// Changes the ceiling of a mutex, and says what it was.
    pthread_mutex_setprioceiling(mutex, ceiling: c_int, before: *mut c_int) =>
        mutex.set_ceiling(ceiling).map(|old| {
            if !before.is_null() {
                before.write(policy::number(old));
            }
        });
}
