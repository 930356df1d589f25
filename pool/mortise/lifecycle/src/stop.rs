//! Early end of a hypercall step: the error type that `?` propagates.

use crate::Error;
use hw_arch::cpu::is_interrupt_pending;

/// Reason why a call does not complete now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It failed.
    Failed(Error),
    /// An interrupt is pending, or another core must act: the call is repeated with this progress.
    Again(u32),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<mortise_instance::Error> for Stop {
    fn from(_: mortise_instance::Error) -> Self {
        Self::Failed(Error::Invalid)
    }
}

/// Result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Complete.
    Done,
    /// An interrupt is pending, or another core must act: the call must be repeated.
    Again,
}

impl Progress {
    /// Continues the call if the operation is complete. Otherwise the call is repeated with this
    /// progress.
    pub const fn or_again(self, progress: u32) -> Result<(), Stop> {
        match self {
            Self::Done => Ok(()),
            Self::Again => Err(Stop::Again(progress)),
        }
    }
}

/// Ends the call with this progress if an interrupt is pending. To be used where a repetition with
/// this progress is harmless.
#[inline]
pub(crate) fn check_pending(progress: u32) -> Result<(), Stop> {
    match is_interrupt_pending() {
        true => Err(Stop::Again(progress)),
        false => Ok(()),
    }
}
