//! Management of VMs: `<tenon/vm.h>`.
//!
//! Each function is one operation of [`tenon_vm`].
//!
//! Guarantees: those of [`tenon_vm`]: no lock, no allocation, any thread. Null pointers are `EINVAL`.

mod calls;
mod records;

use tenon_libc::Errno;
use tenon_vm::Error;

/// Error numbers, the same as those of the Linux module.
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
