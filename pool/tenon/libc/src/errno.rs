//! Error numbers, and the thread-local variable `errno`.

/// Generates the constants.
macro_rules! numbers {
    ($($name:ident = $number:literal, $meaning:literal;)*) => {
        impl Errno {
            $(#[doc = $meaning] pub const $name: Self = Self($number);)*
        }
    };
}

/// An error number, as picolibc's `<errno.h>` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

numbers! {
    EPERM = 1, "Operation not permitted.";
    ENOENT = 2, "No such object.";
    ESRCH = 3, "No such thread or process.";
    EINTR = 4, "Interrupted by a signal.";
    EBADF = 9, "No such descriptor.";
    EAGAIN = 11, "Not now.";
    ENOMEM = 12, "Not enough memory.";
    EACCES = 13, "Permission denied.";
    EFAULT = 14, "Bad address.";
    EBUSY = 16, "In use.";
    EEXIST = 17, "Exists already.";
    EINVAL = 22, "Invalid argument.";
    ENFILE = 23, "Too many open in the system.";
    EMFILE = 24, "Too many open.";
    ENOSPC = 28, "No space left.";
    ESPIPE = 29, "No place in a stream.";
    EPIPE = 32, "The other end is gone.";
    ERANGE = 34, "Result too large.";
    EDEADLK = 45, "It would wait for itself.";
    ENOSYS = 88, "Not supported.";
    ENAMETOOLONG = 91, "Name too long.";
    ETIMEDOUT = 116, "The time was over.";
    EMSGSIZE = 122, "Message too long.";
    ENOTSUP = 134, "Not supported.";
    EOVERFLOW = 139, "Value too large.";
    ECANCELED = 140, "Cancelled.";
    ENOTRECOVERABLE = 141, "State not recoverable.";
    EOWNERDEAD = 142, "The owner ended.";
}

impl Errno {
    /// Sets the calling thread's `errno`, and returns -1, the result of a failed C function.
    pub fn raise(self) -> i32 {
        // SAFETY: the variable is thread-local, so that only this thread accesses it.
        unsafe { location().write(self.0) };
        -1
    }
}

impl Errno {
    /// The calling thread's `errno`.
    pub fn last() -> Self {
        // SAFETY: the variable is thread-local, so that only this thread accesses it.
        Self(unsafe { location().read() })
    }
}

/// Result of a C function that reports by `errno`: 0, or -1.
pub fn report(result: Result<(), Errno>) -> i32 {
    result.map_or_else(Errno::raise, |()| 0)
}

/// Result of a C function that returns the error number, or 0.
pub fn number(result: Result<(), Errno>) -> i32 {
    result.map_or_else(|errno| errno.0, |()| 0)
}

/// Address of the calling thread's `errno`.
#[cfg(target_os = "none")]
fn location() -> *mut i32 {
    let place;
    // SAFETY: the assembly only computes an address, by the local-exec model of thread-local
    // storage (ELF for the Arm 64-bit Architecture, 5.7.11.4).
    unsafe {
        core::arch::asm!(
            "mrs {place}, tpidr_el0",
            "add {place}, {place}, #:tprel_hi12:errno, lsl #12",
            "add {place}, {place}, #:tprel_lo12_nc:errno",
            place = out(reg) place,
            options(nomem, nostack, preserves_flags),
        );
    }
    place
}

/// On the host all threads share one variable.
#[cfg(not(target_os = "none"))]
fn location() -> *mut i32 {
    static ERRNO: core::sync::atomic::AtomicI32 = core::sync::atomic::AtomicI32::new(0);
    ERRNO.as_ptr()
}
