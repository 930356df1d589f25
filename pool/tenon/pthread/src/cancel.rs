//! Cancelling, and what is called at a thread's end (POSIX.1-2017, 2.9.5).

use crate::table::{LOCK, Name, Slot, current, find};
use crate::thread::end;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::number;

/// `PTHREAD_CANCEL_ENABLE` and `PTHREAD_CANCEL_DEFERRED` are 0, their opposites 1.
const OPPOSITE: c_int = 1;
/// `PTHREAD_CANCELED`: what a cancelled thread ends with.
const CANCELED: *mut c_void = usize::MAX as *mut c_void;

/// What a thread has to do with cancelling.
pub(crate) struct Cancel {
    requested: Cell<bool>,
    disabled: Cell<bool>,
    asynchronous: Cell<bool>,
    /// The last handler pushed and not popped.
    cleanup: Cell<*mut Cleanup>,
}

impl Cancel {
    pub(crate) const fn new() -> Self {
        Self {
            requested: Cell::new(false),
            disabled: Cell::new(false),
            asynchronous: Cell::new(false),
            cleanup: Cell::new(ptr::null_mut()),
        }
    }

    pub(crate) fn reset(&self) {
        self.requested.set(false);
        self.disabled.set(false);
        self.asynchronous.set(false);
        self.cleanup.set(ptr::null_mut());
    }

    /// Whether the thread is to end at its next cancellation point.
    pub(crate) fn is_due(&self) -> bool {
        self.requested.get() && !self.disabled.get()
    }

    /// Whether it is to end wherever it is.
    pub(crate) fn is_due_anywhere(&self) -> bool {
        self.is_due() && self.asynchronous.get()
    }
}

/// A handler that was pushed: `struct __pthread_cleanup` of `<pthread.h>`, on the thread's stack.
#[repr(C)]
pub struct Cleanup {
    routine: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
    next: *mut Cleanup,
}

/// Ends the calling thread as one that was cancelled.
pub(crate) fn act() -> ! {
    end(CANCELED)
}

/// Cancels a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_cancel(name: Name) -> c_int {
    let cancelled = LOCK.waking(|(), waking| {
        let slot = find(name)?;
        slot.cancel.requested.set(true);
        if slot.cancel.is_due() {
            if slot.cancel.asynchronous.get() {
                slot.interrupt(waking);
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

/// What `pthread_cleanup_push` calls.
///
/// # Safety
///
/// `cleanup` stays on the caller's stack until it is popped.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __pthread_cleanup_push(
    cleanup: *mut Cleanup,
    routine: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
) {
    let last = &current().cancel.cleanup;
    let next = last.get();
    // SAFETY: the caller's contract.
    unsafe {
        cleanup.write(Cleanup {
            routine,
            argument,
            next,
        });
    }
    last.set(cleanup);
}

/// What `pthread_cleanup_pop` calls.
///
/// # Safety
///
/// `cleanup` is the last one pushed.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __pthread_cleanup_pop(cleanup: *mut Cleanup, execute: c_int) {
    // SAFETY: the caller's contract; a handler takes its argument.
    unsafe {
        current().cancel.cleanup.set((*cleanup).next);
        if let (Some(routine), true) = ((*cleanup).routine, execute != 0) {
            routine((*cleanup).argument);
        }
    }
}

/// Calls the handlers that were pushed and not popped, the last one first. From here on the thread
/// is not cancelled.
pub(crate) fn end_of_thread(slot: &Slot) {
    slot.cancel.disabled.set(true);
    slot.cancel.asynchronous.set(false);
    loop {
        let cleanup = slot.cancel.cleanup.get();
        if cleanup.is_null() {
            return;
        }
        // SAFETY: it was pushed by a function that has not returned: its thread ends in it.
        unsafe { __pthread_cleanup_pop(cleanup, 1) };
    }
}
