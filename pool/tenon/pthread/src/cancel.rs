//! Thread cancellation (POSIX.1-2017, 2.9.5).

use crate::exit::act;
use crate::table::{LOCK, Name, current, find};
use crate::wait;
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::number;

/// `PTHREAD_CANCEL_ENABLE` and `PTHREAD_CANCEL_DEFERRED` are 0, their opposites 1.
const OPPOSITE: c_int = 1;

/// Cancels a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_cancel(name: Name) -> c_int {
    let cancelled = LOCK.waking(|(), waking| {
        let slot = find(name)?;
        slot.cancel.requested.set(true);
        if slot.cancel.is_due() {
            if slot.cancel.asynchronous.get() {
                wait::interrupt(slot, waking);
            } else {
                slot.notify(waking);
            }
        }
        Ok(slot)
    });
    if cancelled.is_ok_and(|slot| ptr::eq(slot, current())) {
        asynchronous_point();
    }
    number(cancelled.map(|_| ()))
}

/// A cancellation point and nothing else.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_testcancel() {
    if current().cancel.is_due() {
        act();
    }
}

/// Acts on a cancel if it may come at any time.
fn asynchronous_point() {
    if current().cancel.asynchronous.get() {
        pthread_testcancel();
    }
}

/// Changes one of a thread's own two choices; returns what it was.
fn choose(choice: &Cell<bool>, value: c_int) -> Result<c_int, Errno> {
    match value {
        0 | OPPOSITE => Ok(c_int::from(choice.replace(value == OPPOSITE))),
        _ => Err(Errno::EINVAL),
    }
}

/// What both `pthread_setcancelstate` and `pthread_setcanceltype` do.
///
/// # Safety
///
/// There is a place for what it was, or it is not wanted.
unsafe fn set(choice: &Cell<bool>, value: c_int, before: *mut c_int) -> c_int {
    let slot = current();
    let changed = LOCK.masked(|(), _| {
        let was = choose(choice, value)?;
        if slot.cancel.is_due() {
            slot.attention.set(true);
        }
        Ok(was)
    });
    if let (Ok(was), false) = (changed, before.is_null()) {
        // SAFETY: the caller's contract.
        unsafe { before.write(was) };
    }
    asynchronous_point();
    number(changed.map(|_| ()))
}

/// Enables or disables cancelling of the calling thread.
///
/// # Safety
///
/// There is a place for what it was, or it is not wanted.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { set(&current().cancel.disabled, state, before) }
}

/// Lets the calling thread be cancelled at cancellation points, or anywhere.
///
/// # Safety
///
/// There is a place for what it was, or it is not wanted.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { set(&current().cancel.asynchronous, kind, before) }
}
