//! How a VM shares its cores with others.

use crate::Kind;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// The least budget: below, a core would be busy with giving it out.
const BUDGET_LEAST: u64 = 10_000;
/// The longest period: of counters up to 1 GHz, 32 bits of ticks.
const PERIOD_MOST: u64 = 4_000_000_000;

/// So much of a core in each period, for each vCPU on its core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Nanoseconds it may run in each period.
    pub budget: u64,
    /// Nanoseconds from one budget to the next.
    pub period: u64,
    /// Whether those of its priority run in the order of their deadlines.
    pub by_deadline: bool,
    /// Whether it runs on in the background without a budget, or waits for the next one.
    pub background: bool,
}

/// What decides who runs on a core that several VMs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Schedule {
    budget: u64,
    /// 0 without a reservation.
    period: u64,
    /// How urgent it is, up to 63; 0 is the background.
    pub priority: u8,
    by_deadline: bool,
    background: bool,
}

impl Schedule {
    /// How many priorities there are.
    pub const PRIORITIES: u8 = 64;

    /// The schedule out of these values, without a reservation if budget and period are 0; or what
    /// they would have to be.
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

    /// What its values would have to be.
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

    /// What it is promised and kept to, if anything.
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

    /// That of a VM whose description says nothing: Tenon before others.
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
