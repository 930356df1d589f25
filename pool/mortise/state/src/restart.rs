//! Progress of a restart sequence.

use crate::resumable::Step;
use core_sync::TicketLock;
use mortise_psci::RunEnd;

/// Next stage of the sequence.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// Nothing to do.
    Idle,
    /// The first run starts.
    First,
    /// A run ends as decided.
    End {
        /// Kind of the end.
        end: RunEnd,
        /// Next step.
        step: Step,
    },
    /// The virtual devices are reset for another run.
    Reset,
    /// A range of memory is cleaned from the caches, from this byte.
    Clean {
        /// Number of the range.
        part: usize,
        /// Bytes that are clean.
        done: u64,
    },
    /// A payload is copied, from this byte.
    Load {
        /// Number of the payload.
        payload: usize,
        /// Bytes that are copied.
        done: u64,
    },
}

impl Stage {
    /// The first range is cleaned.
    pub const CLEAN: Self = Self::Clean { part: 0, done: 0 };
    /// The first payload is copied.
    pub const LOAD: Self = Self::Load {
        payload: 0,
        done: 0,
    };

    /// An end that is decided before the next run started: nothing but its record is left.
    pub const fn end_before_start(end: RunEnd) -> Self {
        let step = Step {
            stage: NOTE,
            number: 0,
        };
        Self::End { end, step }
    }
}

/// Stage of an end that records it.
pub const NOTE: usize = 3;

/// Progress of the sequence. Only the core of the VM's first vCPU changes it.
pub struct RestartSequence(pub TicketLock<Stage>);

impl RestartSequence {
    /// No work.
    pub const fn idle() -> Self {
        Self(TicketLock::new(Stage::Idle))
    }

    /// Before the first run.
    pub const fn first() -> Self {
        Self(TicketLock::new(Stage::First))
    }

    /// All vCPUs stopped: the run ends.
    pub fn end(&self, end: RunEnd) {
        let step = Step::FIRST;
        *self.0.lock() = Stage::End { end, step };
    }

    /// Cancels the sequence, for another instance in the slot.
    pub fn clear(&self) {
        *self.0.lock() = Stage::Idle;
    }
}
