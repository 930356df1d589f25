//! The C functions on mutexes (POSIX.1-2017, `pthread_mutex_lock`).

use crate::mutex::Mutex;
use crate::mutex::attributes::{MutexAttributes, or_default};
use core::ffi::c_int;
use tenon_libc::errno::number;
use tenon_libc::object::at;
use tenon_libc::time::{self, Clock, Timeout, Timespec};
use tenon_pthread::policy;

/// Initialises a mutex.
///
/// # Safety
///
/// `mutex` is valid for a write; `attributes` is null or points to a `pthread_mutexattr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_mutex_init(
    mutex: *mut Mutex,
    attributes: *const MutexAttributes,
) -> c_int {
    // SAFETY: `mutex` is valid for a write, as the caller ensures; zeros are a valid object before
    // its initialisation.
    number(unsafe {
        or_default(attributes, MutexAttributes::DEFAULT).map(|attributes| {
            mutex.write_bytes(0, 1);
            (*mutex).initialise(&attributes);
        })
    })
}

/// Generates functions on a mutex.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($mutex:ident $(, $argument:ident: $type:ty)*) => $do:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The first pointer is null or points to a `pthread_mutex_t`, and further pointers are
            /// valid.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($mutex: *const Mutex $(, $argument: $type)*) -> c_int {
                // SAFETY: `$mutex` is null or points to an object of its type, as the caller
                // ensures.
                number(unsafe { at($mutex).and_then(|$mutex| $do) })
            }
        )*
    };
}

functions! {
    /// Destroys a mutex that is not owned.
    pthread_mutex_destroy(mutex) => mutex.destroy_object();
    /// Locks a mutex.
    pthread_mutex_lock(mutex) => mutex.lock(Timeout::NONE);
    /// Locks a mutex if that does not block.
    pthread_mutex_trylock(mutex) => mutex.try_lock();
    /// Unlocks a mutex.
    pthread_mutex_unlock(mutex) => mutex.unlock();
    /// Locks a mutex, with a timeout of the realtime clock.
    pthread_mutex_timedlock(mutex, time: *const Timespec) =>
        mutex.lock(Timeout::at(Clock::Realtime, time)?);
    /// Locks a mutex, with a timeout of a clock.
    pthread_mutex_clocklock(mutex, clock: time::Id, time: *const Timespec) =>
        mutex.lock(Timeout::at(Clock::of(clock)?, time)?);
    /// Marks the protected state as consistent.
    pthread_mutex_consistent(mutex) => mutex.make_consistent();
    /// Reads the ceiling of a mutex.
    pthread_mutex_getprioceiling(mutex, ceiling: *mut c_int) =>
        mutex.ceiling().map(|priority| ceiling.write(policy::number(priority)));
    /// Changes the ceiling of a mutex and stores the former one.
    pthread_mutex_setprioceiling(mutex, ceiling: c_int, before: *mut c_int) =>
        mutex.set_ceiling(ceiling).map(|old| {
            if !before.is_null() {
                before.write(policy::number(old));
            }
        });
}
