//! Signal numbers and sets (POSIX.1-2017, `sigaddset`).

use crate::pending::Set;
use core::ffi::c_int;
use tenon_libc::errno::{self, Errno};

/// `SIGKILL`, which cannot be caught, blocked or ignored.
pub const KILL: u32 = 9;
/// `SIGALRM`.
pub const ALARM: u32 = 14;
/// `SIGSTOP`, which cannot be caught, blocked or ignored.
pub const STOP: u32 = 17;
/// `SIGRTMIN`.
pub const FIRST_REALTIME: u32 = 32;
/// `SIGRTMAX`.
pub const LAST: u32 = 63;

/// Signals that cannot be blocked.
pub const UNBLOCKABLE: Set = 1 << KILL | 1 << STOP;

/// Checks a signal number from C.
pub fn number(signal: c_int) -> Result<u32, Errno> {
    match u32::try_from(signal) {
        Ok(number @ 1..=LAST) => Ok(number),
        _ => Err(Errno::EINVAL),
    }
}

/// Changes a set from C.
///
/// # Safety
///
/// `set` points to a `sigset_t`.
unsafe fn change(set: *mut Set, signal: c_int, how: impl FnOnce(Set, Set) -> Set) -> c_int {
    errno::report(number(signal).map(|number| {
        // SAFETY: `set` points to a `sigset_t` that only the caller uses.
        unsafe { set.write(how(set.read(), 1 << number)) };
    }))
}

/// Initialises an empty set.
///
/// # Safety
///
/// `set` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigemptyset(set: *mut Set) -> c_int {
    // SAFETY: `set` is valid for a write, as the caller ensures.
    unsafe { set.write(0) };
    0
}

/// Initialises a set of all signals.
///
/// # Safety
///
/// `set` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigfillset(set: *mut Set) -> c_int {
    // SAFETY: `set` is valid for a write, as the caller ensures.
    unsafe { set.write(!1) };
    0
}

/// Adds a signal to a set.
///
/// # Safety
///
/// `set` points to a `sigset_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigaddset(set: *mut Set, signal: c_int) -> c_int {
    // SAFETY: `set` points to a `sigset_t`, as the caller ensures.
    unsafe { change(set, signal, |set, bit| set | bit) }
}

/// Removes a signal from a set.
///
/// # Safety
///
/// `set` points to a `sigset_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigdelset(set: *mut Set, signal: c_int) -> c_int {
    // SAFETY: `set` points to a `sigset_t`, as the caller ensures.
    unsafe { change(set, signal, |set, bit| set & !bit) }
}

/// Whether a signal is in a set.
///
/// # Safety
///
/// `set` points to a `sigset_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigismember(set: *const Set, signal: c_int) -> c_int {
    // SAFETY: `set` points to a `sigset_t`, as the caller ensures.
    let set = unsafe { set.read() };
    number(signal).map_or_else(Errno::raise, |number| c_int::from(set >> number & 1 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_bounds() {
        assert_eq!([1, 31, 63].map(number), [Ok(1), Ok(31), Ok(63)]);
        assert!([-1, 0, 64, 256].iter().all(|&n| number(n).is_err()));
    }

    #[test]
    fn sets_hold_what_was_added() {
        let mut set = 0;
        // SAFETY: `set` is a local variable.
        unsafe {
            sigfillset(&raw mut set);
            assert_eq!(
                (1..64).map(|n| sigismember(&raw const set, n)).sum::<i32>(),
                63
            );
            sigemptyset(&raw mut set);
            assert_eq!(sigaddset(&raw mut set, 40), 0);
            assert_eq!(sigaddset(&raw mut set, 64), -1);
            assert_eq!(sigismember(&raw const set, 40), 1);
            assert_eq!(sigdelset(&raw mut set, 40), 0);
        }
        assert_eq!(set, 0);
    }
}
