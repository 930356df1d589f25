//! Progress of a restart sequence.

use crate::resumable::Step;
use core_memory::PhysicalRange;
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
    /// The next piece of the VM's memory is planned.
    Plan(Progress),
    /// A piece of the memory is written or cleaned, from this byte.
    Write(Progress, Piece, u64),
}

/// Progress through the memory of a VM, which is written for a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Whether this is the first run, before which all is written. Before another one memory
    /// outside the payloads keeps its content.
    pub first: bool,
    /// Number of the range.
    pub part: usize,
    /// Bytes of the range that are planned.
    pub done: u64,
}

/// Piece of a range of memory, which is written in one way.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Its addresses in the manifest.
    pub target: PhysicalRange,
    /// Physical address from which it is copied; none outside the payloads.
    pub source: Option<u64>,
}

impl Stage {
    /// The memory is written from its first byte on.
    pub const fn write(first: bool) -> Self {
        let (part, done) = (0, 0);
        Self::Plan(Progress { first, part, done })
    }

    /// An end that is decided before the next run started: nothing but its record is left.
    pub const fn end_before_start(end: RunEnd) -> Self {
        let step = Step {
            stage: RECORD_END,
            number: 0,
        };
        Self::End { end, step }
    }
}

/// Stage of an end that records it.
pub const RECORD_END: usize = 3;

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
