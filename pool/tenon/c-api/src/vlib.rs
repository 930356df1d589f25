//! The calls of `tenon/vlib` for applications in C.
//!
//! # Purpose
//!
//! `<tenon/vlib.h>`, in `include/`, is for C what [`tenon_vlib`] is for Rust, by the names of the paper
//! (*vLibOS*, 3.1). What a function returns is 0, or -1 with the reason in `errno`.
//!
//! # Guarantees
//!
//! Those of [`tenon_vlib`]. Null pointers and numbers of no channel are `EINVAL`.

mod calls;
mod table;

use tenon_libc::Errno;
use tenon_vlib::Error;

/// As the header says it.
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
