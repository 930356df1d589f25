//! Cancellation state of a thread, and its stack of cleanup handlers (POSIX.1-2017, 2.9.5).

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

/// Cancellation state of a thread.
pub(crate) struct CancelState {
    pub(crate) requested: Cell<bool>,
    pub(crate) disabled: Cell<bool>,
    pub(crate) asynchronous: Cell<bool>,
    /// Top of the stack of cleanup handlers; null if it is empty.
    pub(crate) cleanup: Cell<*mut Cleanup>,
}

impl CancelState {
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

    /// Whether a request is pending that acts at the next cancellation point.
    pub(crate) fn is_due(&self) -> bool {
        self.requested.get() && !self.disabled.get()
    }

    /// Whether a request is pending that acts at any instruction.
    pub(crate) fn is_due_anywhere(&self) -> bool {
        self.is_due() && self.asynchronous.get()
    }
}

/// A cleanup handler: `struct __pthread_cleanup` of `<pthread.h>`, on the thread's stack.
#[repr(C)]
pub struct Cleanup {
    pub(crate) routine: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) argument: *mut c_void,
    pub(crate) next: *mut Cleanup,
}
