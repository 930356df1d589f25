//! Error codes of life cycle hypercalls.

use mortise_hypercall::Reply;

/// Error of a call. The number is returned in x0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Error {
    /// The function does not exist.
    NotSupported = -1,
    /// Invalid arguments.
    Invalid = -2,
    /// The caller has no authority.
    Denied = -3,
    /// The reserve, or the caller's share of it, is exhausted.
    NoMemory = -4,
    /// Wrong state, or another call is in progress on the VM.
    Busy = -5,
    /// No such VM.
    NotFound = -6,
}

impl From<Error> for Reply {
    fn from(error: Error) -> Self {
        Self::status(error as i8 as i32)
    }
}
