//! [`Change`] of a schedule, and whether it needs a privilege.

use super::RESERVATION_FLAGS;
use crate::{Errno, Policy, Reservation, Schedule};

/// Flag of `struct sched_attr`: children get a usual schedule.
pub const RESET_ON_FORK: u64 = 1;
/// The policy stays.
pub const KEEP_POLICY: u64 = 8;
/// The parameters stay.
pub const KEEP_PARAMETERS: u64 = 0x10;
/// The flags that exist: these, and those of reclaiming, overruns and limits of utilisation.
const FLAGS: u64 = 0x7f;

/// What a caller wants of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The number of the policy, or none to keep it.
    pub policy: Option<u32>,
    /// Flags of `struct sched_attr`.
    pub flags: u64,
    /// The nice value for fair policies.
    pub nice: i8,
    /// The priority, for policies that have one.
    pub priority: u32,
    /// The reservation of `SCHED_DEADLINE`.
    pub reservation: Reservation,
}

impl Change {
    /// A policy with a priority.
    #[must_use]
    pub fn policy(policy: Policy, priority: u32) -> Self {
        Self {
            policy: Some(policy.number()),
            priority,
            ..Self::default()
        }
    }
}

impl Schedule {
    /// The schedule after a change. `EINVAL` for what does not exist.
    pub fn changed(&self, change: &Change) -> Result<Self, Errno> {
        let (policy, reset_on_fork) = match change.policy {
            Some(number) => (Policy::of(number)?, change.flags & RESET_ON_FORK != 0),
            None => (self.policy, self.reset_on_fork),
        };
        if change.flags & !FLAGS != 0
            || change.priority > 99
            || policy.has_priority() != (change.priority != 0)
            || policy == Policy::Deadline && !change.reservation.is_valid()
        {
            return Err(Errno::EINVAL);
        }
        Ok(Self {
            policy,
            nice: if policy.is_fair() {
                change.nice
            } else {
                self.nice
            },
            priority: change.priority as u8,
            reset_on_fork,
            io_priority: self.io_priority,
            reservation: match policy {
                Policy::Deadline => Reservation {
                    flags: change.flags & RESERVATION_FLAGS,
                    ..change.reservation
                },
                _ => Reservation::default(),
            },
        })
    }

    /// Whether a thread of the same user may have its schedule changed to `new`, with limits of nice
    /// values and of priorities (`RLIMIT_NICE`, `RLIMIT_RTPRIO`) and without a privilege.
    #[must_use]
    pub fn permits(&self, new: &Self, (nice, priority): (u64, u64)) -> bool {
        let allowed = |value: i8| (20 - i64::from(value)) as u64 <= nice;
        let fair = new.policy.is_fair();
        let fair_denied = fair && new.nice < self.nice && !allowed(new.nice);
        let other = new.policy != self.policy;
        let own = self.urgency().into();
        let urgent = new.policy.has_priority();
        let wanted = u64::from(new.priority);
        let priority_denied =
            urgent && (other && priority == 0 || wanted > own && wanted > priority);
        let idle = self.policy == Policy::Idle && new.policy != Policy::Idle;
        !(fair_denied
            || priority_denied
            || new.policy == Policy::Deadline
            || idle && !allowed(self.nice)
            || self.reset_on_fork && !new.reset_on_fork)
    }

    /// Whether that holds for a nice value.
    #[must_use]
    pub fn permits_nice(&self, nice: i8, limit: u64) -> bool {
        nice >= self.nice || (20 - i64::from(nice)) as u64 <= limit
    }
}
