//! Calls of vLibs: `<tenon/vlib.h>`.
//!
//! The functions are those of [`tenon_vlib`], under the names of the paper (*vLibOS*, 3.1).
//!
//! Guarantees: those of [`tenon_vlib`]. Null pointers and invalid channel numbers are `EINVAL`.

mod calls;
mod table;

use tenon_libc::Errno;
use tenon_vlib::Error;

/// Error numbers as the header lists them.
const fn errno(error: Error) -> Errno {
    match error {
        Error::Absent => Errno::ENOENT,
        Error::Interrupt(_) | Error::NoMemory | Error::NoThread => Errno::ENOMEM,
        Error::Busy => Errno::EBUSY,
        Error::NotListening => Errno::ENOTRECOVERABLE,
        Error::Gone => Errno::EPIPE,
        Error::TimedOut => Errno::ETIMEDOUT,
        Error::Stale | Error::Overload => Errno::EAGAIN,
    }
}
