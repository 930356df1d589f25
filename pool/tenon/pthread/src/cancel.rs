//! Thread cancellation (POSIX.1-2017, 2.9.5).

use crate::exit::exit_cancelled;
use crate::table::{LOCK, ThreadId, current, find};
use crate::wait;
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::number;

/// `PTHREAD_CANCEL_ENABLE` and `PTHREAD_CANCEL_DEFERRED` are 0, `PTHREAD_CANCEL_DISABLE` and `PTHREAD_CANCEL_ASYNCHRONOUS` 1.
const DISABLE_OR_ASYNCHRONOUS: c_int = 1;

/// Cancels a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_cancel(name: ThreadId) -> c_int {
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
        act_if_asynchronous();
    }
    number(cancelled.map(|_| ()))
}

/// A cancellation point without any other effect.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_testcancel() {
    if current().cancel.is_due() {
        exit_cancelled();
    }
}

/// Acts on a pending request if the cancellation type is asynchronous.
fn act_if_asynchronous() {
    if current().cancel.asynchronous.get() {
        pthread_testcancel();
    }
}

/// Changes the cancelability state or type of a thread; returns the former value.
fn exchange(choice: &Cell<bool>, value: c_int) -> Result<c_int, Errno> {
    match value {
        0 | DISABLE_OR_ASYNCHRONOUS => Ok(c_int::from(
            choice.replace(value == DISABLE_OR_ASYNCHRONOUS),
        )),
        _ => Err(Errno::EINVAL),
    }
}

/// Common part of `pthread_setcancelstate` and `pthread_setcanceltype`.
///
/// # Safety
///
/// `before` is null or valid for a write.
unsafe fn set(choice: &Cell<bool>, value: c_int, before: *mut c_int) -> c_int {
    let slot = current();
    let changed = LOCK.masked(|(), _| {
        let was = exchange(choice, value)?;
        if slot.cancel.is_due() {
            slot.attention.set(true);
        }
        Ok(was)
    });
    if let (Ok(was), false) = (changed, before.is_null()) {
        // SAFETY: `before` is not null, and then valid for a write, as the caller ensures.
        unsafe { before.write(was) };
    }
    act_if_asynchronous();
    number(changed.map(|_| ()))
}

/// Enables or disables cancellation of the calling thread.
///
/// # Safety
///
/// `before` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int {
    // SAFETY: `before` is null or valid for a write, as the caller ensures.
    unsafe { set(&current().cancel.disabled, state, before) }
}

/// Sets the cancellation type of the calling thread: deferred or asynchronous.
///
/// # Safety
///
/// `before` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int {
    // SAFETY: `before` is null or valid for a write, as the caller ensures.
    unsafe { set(&current().cancel.asynchronous, kind, before) }
}
