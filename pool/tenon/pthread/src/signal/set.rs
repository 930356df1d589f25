//! Sets of signals, and their numbers.

use crate::pending::Set;
use core::ffi::c_int;
use tenon_libc::errno::{self, Errno};

/// `SIGKILL`, which nobody catches, blocks or ignores.
pub const KILL: u32 = 9;
/// `SIGALRM`.
pub const ALARM: u32 = 14;
/// `SIGSTOP`, which nothing here can continue from.
pub const STOP: u32 = 17;
/// `SIGRTMIN`.
pub const FIRST_REALTIME: u32 = 32;
/// `SIGRTMAX`.
pub const LAST: u32 = 63;

/// What cannot be blocked.
pub const UNBLOCKABLE: Set = 1 << KILL | 1 << STOP;

/// A signal's number from C.
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
/// The set is one.
unsafe fn change(set: *mut Set, signal: c_int, how: impl FnOnce(Set, Set) -> Set) -> c_int {
    errno::report(number(signal).map(|number| {
        // SAFETY: the caller's contract.
        unsafe { set.write(how(set.read(), 1 << number)) };
    }))
}

/// Makes a set of no signals.
///
/// # Safety
///
/// There is a place for it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigemptyset(set: *mut Set) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { set.write(0) };
    0
}

/// Makes a set of all signals.
///
/// # Safety
///
/// There is a place for it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigfillset(set: *mut Set) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { set.write(!1) };
    0
}

/// Adds a signal to a set.
///
/// # Safety
///
/// The set is one.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigaddset(set: *mut Set, signal: c_int) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { change(set, signal, |set, bit| set | bit) }
}

/// Takes a signal out of a set.
///
/// # Safety
///
/// The set is one.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigdelset(set: *mut Set, signal: c_int) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { change(set, signal, |set, bit| set & !bit) }
}

/// Whether a signal is in a set.
///
/// # Safety
///
/// The set is one.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigismember(set: *const Set, signal: c_int) -> c_int {
    // SAFETY: the caller's contract.
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
        // SAFETY: it is a set.
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
