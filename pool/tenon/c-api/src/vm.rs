//! The calls of `tenon/vm` for applications in C.
//!
//! # Purpose
//!
//! `<tenon/vm.h>`, in `include/`, is for C what [`tenon_vm`] is for Rust. Each function is one of its
//! methods; what it returns is 0, or -1 with the reason in `errno`, as POSIX has it.
//!
//! # Guarantees
//!
//! Those of [`tenon_vm`]: no lock, no allocation, any thread. Null pointers are `EINVAL`.

mod calls;
mod records;

use tenon_libc::Errno;
use tenon_vm::Error;

/// As Linux's module says it.
fn errno(error: Error) -> Errno {
    match error {
        Error::NotSupported => Errno::ENOSYS,
        Error::Invalid => Errno::EINVAL,
        Error::Denied => Errno::EPERM,
        Error::NoMemory => Errno::ENOMEM,
        Error::Busy => Errno::EBUSY,
        Error::NotFound => Errno::ENOENT,
    }
}
