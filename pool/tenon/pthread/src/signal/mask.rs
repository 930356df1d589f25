//! Signal masks, and waits for a handler (POSIX.1-2017, `pthread_sigmask`, `sigsuspend`).

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

/// Changes the signal mask of the calling thread and stores the former one. Returns the error
/// number.
///
/// # Safety
///
/// `set` is null or points to a `sigset_t`; `old` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: `set` is null or points to a value of its type, as the caller ensures.
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
            // SAFETY: `old` is not null, and then valid for a write, as the caller ensures.
            unsafe { old.write(former) };
        }
    }))
}

/// As [`pthread_sigmask`], with the error in `errno`.
///
/// # Safety
///
/// The requirements of [`pthread_sigmask`].
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigprocmask(how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: the pointers meet the requirements of `pthread_sigmask`, as the caller ensures.
    match unsafe { pthread_sigmask(how, set, old) } {
        0 => 0,
        number => Errno(number).raise(),
    }
}

/// Reads the signals that are both pending and blocked.
///
/// # Safety
///
/// `set` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigpending(set: *mut Set) -> c_int {
    let pending = LOCK.masked(|(), _| {
        let signals = &current().signals;
        (signals.pending.set() | program().set()) & signals.blocked.get()
    });
    // SAFETY: `set` is valid for a write, as the caller ensures.
    unsafe { set.write(pending) };
    0
}

/// Waits until a handler has run since `handled` was cleared, in this call or where the thread was
/// preempted before it. In the latter case `attention` is still set, so that the pause returns at
/// once.
fn wait_for_handler() {
    loop {
        wait::act_on_pending();
        if current().signals.handled.get() {
            return;
        }
        wait::pause(None);
    }
}

/// Replaces the signal mask, waits until a handler has run, and restores the mask.
///
/// # Safety
///
/// `set` points to a `sigset_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigsuspend(set: *const Set) -> c_int {
    // SAFETY: `set` points to a value of its type, as the caller ensures.
    let wanted = unsafe { *set } & !crate::signal::set::UNBLOCKABLE;
    // Signals that become unblocked are delivered by the wait below.
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

/// Waits until a handler has run.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pause() -> c_int {
    current().signals.handled.set(false);
    wait_for_handler();
    Errno::EINTR.raise()
}
