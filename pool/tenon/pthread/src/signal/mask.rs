//! Blocking signals, and waiting until a handler ran.

use crate::current;
use crate::pending::Set;
use crate::signal::deliver::{block, program};
use crate::table::LOCK;
use crate::wait;
use core::ffi::c_int;
use tenon_libc::errno::{self, Errno};

/// `SIG_SETMASK`, `SIG_BLOCK` and `SIG_UNBLOCK`.
const REPLACE: c_int = 0;
const BLOCK: c_int = 1;
const UNBLOCK: c_int = 2;

/// Changes what the calling thread blocks, and says what it blocked. Returns the error number.
///
/// # Safety
///
/// The set is null or one; there is a place for the old one, unless it is null.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: the caller's contract.
    let set = unsafe { set.as_ref() }.copied();
    let former = match (how, set) {
        (_, None) => Ok(current().signals.blocked.get()),
        (REPLACE, Some(set)) => Ok(block(|_| set)),
        (BLOCK, Some(set)) => Ok(block(|old| old | set)),
        (UNBLOCK, Some(set)) => Ok(block(|old| old & !set)),
        _ => Err(Errno::EINVAL),
    };
    errno::number(former.map(|former| {
        if !old.is_null() {
            // SAFETY: the caller's contract.
            unsafe { old.write(former) };
        }
    }))
}

/// As [`pthread_sigmask`], which reports by `errno`.
///
/// # Safety
///
/// As for [`pthread_sigmask`].
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigprocmask(how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: the caller's contract.
    match unsafe { pthread_sigmask(how, set, old) } {
        0 => 0,
        number => Errno(number).raise(),
    }
}

/// Says which signals are pending and blocked.
///
/// # Safety
///
/// There is a place for the set.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigpending(set: *mut Set) -> c_int {
    let pending = LOCK.masked(|(), _| {
        let signals = &current().signals;
        (signals.pending.set() | program().set()) & signals.blocked.get()
    });
    // SAFETY: the caller's contract.
    unsafe { set.write(pending) };
    0
}

/// Waits until a handler of a signal ran since `handled` was cleared: here, or where the thread was
/// preempted on its way. Of the latter `attention` is left, so that the pause does not begin.
fn wait_for_handler() {
    loop {
        wait::attend();
        if current().signals.handled.get() {
            return;
        }
        wait::pause(None);
    }
}

/// Blocks those signals only, waits until a handler ran, and blocks what was blocked before.
///
/// # Safety
///
/// The set is one.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigsuspend(set: *const Set) -> c_int {
    // SAFETY: the caller's contract.
    let wanted = unsafe { *set } & !crate::signal::set::UNBLOCKABLE;
    // What is let in by this must be seen to below, not before.
    let old = LOCK.waking(|(), waking| {
        let slot = current();
        let old = slot.signals.blocked.replace(wanted);
        slot.signals.handled.set(false);
        if (slot.signals.pending.set() | program().set()) & !wanted != 0 {
            slot.notify(waking);
        }
        old
    });
    wait_for_handler();
    block(|_| old);
    Errno::EINTR.raise()
}

/// Waits until a handler ran.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pause() -> c_int {
    current().signals.handled.set(false);
    wait_for_handler();
    Errno::EINTR.raise()
}
