//! [`Schedule`] of a thread: its policy, nice value and priority.

pub mod change;

use crate::Errno;

/// Policies of Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_OTHER`: turns, with slices by the nice value.
    #[default]
    Other,
    /// `SCHED_FIFO`: until the thread blocks.
    Fifo,
    /// `SCHED_RR`: turns among threads of one priority.
    RoundRobin,
    /// `SCHED_BATCH`, as `SCHED_OTHER`.
    Batch,
    /// `SCHED_IDLE`: the least share.
    Idle,
    /// `SCHED_DEADLINE`: a budget in each period.
    Deadline,
}

impl Policy {
    /// The policy of a number.
    pub fn of(number: u32) -> Result<Self, Errno> {
        Ok(match number {
            0 => Self::Other,
            1 => Self::Fifo,
            2 => Self::RoundRobin,
            3 => Self::Batch,
            5 => Self::Idle,
            6 => Self::Deadline,
            _ => return Err(Errno::EINVAL),
        })
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::Other => 0,
            Self::Fifo => 1,
            Self::RoundRobin => 2,
            Self::Batch => 3,
            Self::Idle => 5,
            Self::Deadline => 6,
        }
    }

    /// Whether it has a priority, 1 to 99.
    #[must_use]
    pub fn has_priority(self) -> bool {
        matches!(self, Self::Fifo | Self::RoundRobin)
    }

    /// Whether its threads share what others leave, in turns.
    #[must_use]
    pub fn is_fair(self) -> bool {
        matches!(self, Self::Other | Self::Batch | Self::Idle)
    }
}

/// A budget in each period, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reservation {
    /// The budget.
    pub runtime: u64,
    /// The time from the start of a period by which the thread has its budget.
    pub deadline: u64,
    /// The period; zero for that of the deadline.
    pub period: u64,
    /// Flags of `struct sched_attr` that concern reservations.
    pub flags: u64,
}

/// Flag of a reservation: a signal states that the budget is depleted (`SCHED_FLAG_DL_OVERRUN`).
pub const OVERRUN: u64 = 4;
/// The flags of reservations: that, and to use what others leave, which has no effect.
const RESERVATION_FLAGS: u64 = 2 | OVERRUN;

impl Reservation {
    /// Whether Linux has such a reservation.
    pub(crate) fn is_valid(&self) -> bool {
        const SHORTEST_BUDGET: u64 = 1 << 10;
        const SHORTEST_PERIOD: u64 = 100_000;
        const LONGEST_PERIOD: u64 = (1 << 22) * 1000;
        let period = self.effective_period();
        self.runtime >= SHORTEST_BUDGET
            && (self.runtime..=period).contains(&self.deadline)
            && (SHORTEST_PERIOD..=LONGEST_PERIOD).contains(&period)
    }

    /// The period.
    #[must_use]
    pub fn effective_period(&self) -> u64 {
        match self.period {
            0 => self.deadline,
            period => period,
        }
    }
}

/// How a thread is scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The policy.
    pub policy: Policy,
    /// The nice value, -20 to 19, which other policies keep too.
    pub nice: i8,
    /// The priority of a policy that has one, or zero.
    pub priority: u8,
    /// Children get `SCHED_OTHER` and no nice value below 0.
    pub reset_on_fork: bool,
    /// The reservation of `SCHED_DEADLINE`.
    pub reservation: Reservation,
    /// The priority of input and output (`ioprio_set`), which has no effect.
    pub io_priority: u16,
}

/// The urgency of `SCHED_DEADLINE`, above all priorities.
pub(crate) const DEADLINE: u8 = 100;

impl Schedule {
    /// 0 for fair policies, the priority, or [`DEADLINE`].
    pub(crate) fn urgency(&self) -> u8 {
        match self.policy {
            Policy::Deadline => DEADLINE,
            policy if policy.has_priority() => self.priority,
            _ => 0,
        }
    }

    /// The length of a time slice in nanoseconds, for one with a nice value of 0 of `unit`; none if
    /// the thread runs until it blocks.
    ///
    /// A step of the nice value is a factor of 1.25, as the weights of Linux have it: threads that do
    /// not block have shares by their slices, as all have one slice in a turn.
    #[must_use]
    pub fn slice(&self, unit: u64) -> Option<u64> {
        /// Of a slice of `SCHED_RR`, as in Linux.
        const ROUND_ROBIN: u64 = 100_000_000;
        /// The share of `SCHED_IDLE` in 1,024 parts, as in Linux.
        const IDLE: u64 = 3;
        match self.policy {
            Policy::Fifo | Policy::Deadline => None,
            Policy::RoundRobin => Some(ROUND_ROBIN),
            Policy::Idle => Some(unit * IDLE / 1024),
            Policy::Other | Policy::Batch => {
                let steps = 0..self.nice.unsigned_abs();
                Some(match self.nice {
                    0.. => steps.fold(unit, |slice, _| slice * 4 / 5),
                    _ => steps.fold(unit, |slice, _| slice * 5 / 4),
                })
            }
        }
    }

    /// That of a child. `EAGAIN` for a reservation, which cannot be had twice.
    pub fn child(&self) -> Result<Self, Errno> {
        let mut child = *self;
        if self.reset_on_fork {
            child.reset_on_fork = false;
            if !self.policy.is_fair() {
                child = Self::default();
            }
            child.nice = child.nice.max(0);
        }
        match child.policy {
            Policy::Deadline => Err(Errno::EAGAIN),
            _ => Ok(child),
        }
    }
}
