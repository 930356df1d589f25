//! Errors of VM management.

use core::fmt;

/// Error of a call to Mortise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The function does not exist: no Mortise, or one without life cycles.
    NotSupported,
    /// An argument is invalid.
    Invalid,
    /// This VM has no authority for the operation.
    Denied,
    /// The reserve, or this VM's part of it, is exhausted.
    NoMemory,
    /// The VM is in another state, or another operation on it is in progress.
    Busy,
    /// There is no such VM or template.
    NotFound,
}

impl Error {
    /// The error of a status code.
    pub(crate) const fn check(status: u64) -> Result<(), Self> {
        match status as i64 {
            0 => Ok(()),
            -2 => Err(Self::Invalid),
            -3 => Err(Self::Denied),
            -4 => Err(Self::NoMemory),
            -5 => Err(Self::Busy),
            -6 => Err(Self::NotFound),
            _ => Err(Self::NotSupported),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSupported => "no Mortise, or one without life cycles",
            Self::Invalid => "an argument is invalid",
            Self::Denied => "this VM has no authority for it",
            Self::NoMemory => "the reserve of this VM is exhausted",
            Self::Busy => "in another state, or in another operation",
            Self::NotFound => "there is no such VM or template",
        })
    }
}

impl core::error::Error for Error {}
