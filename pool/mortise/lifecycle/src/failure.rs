//! Why a call does not do what it was to do.

use mortise_hypercall::Reply;

/// Why not. The numbers are what the guest finds in x0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Failure {
    /// There is no such function.
    NotSupported = -1,
    /// The arguments mean nothing.
    Invalid = -2,
    /// The caller has no authority for it.
    Denied = -3,
    /// The reserve, or the caller's part of it, has not as much.
    NoMemory = -4,
    /// Not in this state, or somebody else is at it.
    Busy = -5,
    /// There is no such VM.
    NotFound = -6,
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self::status(failure as i8 as i32)
    }
}
