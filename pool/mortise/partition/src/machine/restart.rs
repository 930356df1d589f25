//! Progress of a restart sequence.

use super::resumable::Step;
use core_sync::TicketLock;
use mortise_psci::RunEnd;

/// What is done next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// Nothing.
    Idle,
    /// The first run is begun.
    First,
    /// A run is ended, as was decided.
    End { end: RunEnd, part: Step },
    /// Its devices are taken back to their first state, for another run.
    Renew,
    /// The caches of a part of its memory are emptied, from this byte on.
    Forget { part: usize, done: u64 },
    /// A payload is copied, from this byte on.
    Load { payload: usize, done: u64 },
}

impl Stage {
    pub(crate) const FORGET: Self = Self::Forget { part: 0, done: 0 };
    pub(crate) const LOAD: Self = Self::Load {
        payload: 0,
        done: 0,
    };

    /// An end that somebody decided on when nothing was left of a run, from where it is noted.
    pub(crate) const fn end_instead(end: RunEnd) -> Self {
        let part = Step {
            stage: NOTE,
            number: 0,
        };
        Self::End { end, part }
    }
}

/// The stage of an end in which it is noted.
pub(crate) const NOTE: usize = 3;

/// How far the leader is. Only its core works on it.
pub(crate) struct RestartSequence(pub(crate) TicketLock<Stage>);

impl RestartSequence {
    /// Nothing is to be done.
    pub(crate) const fn idle() -> Self {
        Self(TicketLock::new(Stage::Idle))
    }

    /// The first run is to begin.
    pub(crate) const fn first() -> Self {
        Self(TicketLock::new(Stage::First))
    }

    /// Has a run ended whose vCPUs all rest.
    pub(crate) fn end(&self, end: RunEnd) {
        let part = Step::FIRST;
        *self.0.lock() = Stage::End { end, part };
    }

    /// Has nothing done: another one lives there.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Stage::Idle;
    }
}
