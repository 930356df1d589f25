//! Scheduling parameters of a VM on shared cores.

use crate::Kind;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Minimum budget in nanoseconds: smaller budgets would spend the core on replenishments.
const BUDGET_LEAST: u64 = 10_000;
/// Maximum period in nanoseconds: fits 32 bits of ticks of a counter of up to 1 GHz.
const PERIOD_MOST: u64 = 4_000_000_000;

/// Reservation of execution time, for each vCPU on its core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Budget per period in nanoseconds.
    pub budget: u64,
    /// Period in nanoseconds.
    pub period: u64,
    /// Whether vCPUs of its priority are scheduled by EDF.
    pub by_deadline: bool,
    /// Whether it continues in the background when its budget is depleted, or waits for the next
    /// replenishment.
    pub background: bool,
}

/// Scheduling parameters of a VM on shared cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Schedule {
    budget: u64,
    /// 0 without a reservation.
    period: u64,
    /// Priority, up to 63; 0 is the background.
    pub priority: u8,
    by_deadline: bool,
    background: bool,
}

impl Schedule {
    /// Number of priorities.
    pub const PRIORITIES: u8 = 64;

    /// Schedule of these values, without a reservation if budget and period are 0. The error is the
    /// requirement that they do not meet.
    pub fn new(
        priority: u8,
        by_deadline: bool,
        background: bool,
        budget: u64,
        period: u64,
    ) -> Result<Self, &'static str> {
        let schedule = Self {
            budget,
            period,
            priority,
            by_deadline,
            background,
        };
        schedule.check().map(|()| schedule)
    }

    /// Validates the values; the error is the requirement that they do not meet.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.priority >= Self::PRIORITIES {
            return Err("have a priority from 0 to 63");
        }
        let needs = self.by_deadline || self.background;
        if (self.budget, self.period) == (0, 0) {
            return match needs {
                true => Err("have a budget, to be by deadline or in the background without one"),
                false => Ok(()),
            };
        }
        if !(BUDGET_LEAST..=self.period).contains(&self.budget) || self.period > PERIOD_MOST {
            return Err("have a budget from 10 us to its period, and a period up to 4 s");
        }
        if needs && self.priority == 0 {
            return Err("have a priority above the background to be by deadline or to leave it");
        }
        Ok(())
    }

    /// Its reservation, if it has one.
    #[inline]
    pub const fn reservation(&self) -> Option<Reservation> {
        match self.period {
            0 => None,
            period => Some(Reservation {
                budget: self.budget,
                period,
                by_deadline: self.by_deadline,
                background: self.background,
            }),
        }
    }

    /// Default schedule of a VM: Tenon has a higher priority than other kinds.
    pub const fn of(kind: Kind) -> Self {
        Self {
            budget: 0,
            period: 0,
            priority: match kind {
                Kind::Tenon => 32,
                Kind::Linux | Kind::Image => 0,
            },
            by_deadline: false,
            background: false,
        }
    }
}
