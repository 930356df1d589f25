//! Cleanup handlers (POSIX.1-2017, `pthread_cleanup_push`).

pub use crate::cancel_state::Cleanup;
use crate::table::{Slot, current};
use core::ffi::{c_int, c_void};

/// Pushes a cleanup handler: the function behind the macro `pthread_cleanup_push`.
///
/// # Safety
///
/// `cleanup` is valid for a write, and stays valid until it is popped.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __pthread_cleanup_push(
    cleanup: *mut Cleanup,
    routine: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
) {
    let last = &current().cancel.cleanup;
    let next = last.get();
    // SAFETY: `cleanup` is valid for a write, as the caller ensures.
    unsafe {
        cleanup.write(Cleanup {
            routine,
            argument,
            next,
        });
    }
    last.set(cleanup);
}

/// Pops a cleanup handler and executes it if asked to: the function behind `pthread_cleanup_pop`.
///
/// # Safety
///
/// `cleanup` is the handler that was pushed last.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __pthread_cleanup_pop(cleanup: *mut Cleanup, execute: c_int) {
    // SAFETY: `cleanup` was pushed, so that it is initialised; the program pushed the routine with
    // its argument.
    unsafe {
        current().cancel.cleanup.set((*cleanup).next);
        if let (Some(routine), true) = ((*cleanup).routine, execute != 0) {
            routine((*cleanup).argument);
        }
    }
}

/// Executes all cleanup handlers of an exiting thread, the last one first, with cancellation disabled.
pub(crate) fn run_all(slot: &Slot) {
    slot.cancel.disabled.set(true);
    slot.cancel.asynchronous.set(false);
    loop {
        let cleanup = slot.cancel.cleanup.get();
        if cleanup.is_null() {
            return;
        }
        // SAFETY: the function that pushed it has not returned, as its thread exits within it.
        unsafe { __pthread_cleanup_pop(cleanup, 1) };
    }
}
