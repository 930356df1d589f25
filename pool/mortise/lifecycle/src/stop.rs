//! Why a call goes no further for now: what `?` carries out of its steps.

use crate::Failure;
use hw_arch::cpu::is_interrupt_pending;

/// Why a call goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It does not do what it was to do.
    Failed(Failure),
    /// An interrupt waits, or somebody else: it is made again, with this as its progress.
    Again(u32),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<mortise_instance::Error> for Stop {
    fn from(_: mortise_instance::Error) -> Self {
        Self::Failed(Failure::Invalid)
    }
}

/// What became of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It is done.
    Done,
    /// An interrupt waits, or somebody else: come back.
    Again,
}

impl Progress {
    /// Goes on with the call if it is done; otherwise the call is made again, with this as its
    /// progress.
    pub const fn or_again(self, progress: u32) -> Result<(), Stop> {
        match self {
            Self::Done => Ok(()),
            Self::Again => Err(Stop::Again(progress)),
        }
    }
}

/// Whether a call goes on behind a step that has changed nothing, or nothing that matters if it is
/// made again with this progress: not while an interrupt waits.
#[inline]
pub(crate) fn look(progress: u32) -> Result<(), Stop> {
    match is_interrupt_pending() {
        true => Err(Stop::Again(progress)),
        false => Ok(()),
    }
}
