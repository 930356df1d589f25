//! How a VM shares its cores with others.

use crate::node::Node;
use crate::{Error, Kind};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// How urgent it is, up to 63; 0 is the background.
    pub priority: u8,
    /// What it is promised and kept to, if anything.
    pub reservation: Option<Reservation>,
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
        if priority >= Self::PRIORITIES {
            return Err("have a priority from 0 to 63");
        }
        let needs = by_deadline || background;
        if (budget, period) == (0, 0) {
            return match needs {
                true => Err("have a budget, to be by deadline or in the background without one"),
                false => Ok(Self {
                    priority,
                    reservation: None,
                }),
            };
        }
        if !(BUDGET_LEAST..=period).contains(&budget) || period > PERIOD_MOST {
            return Err("have a budget from 10 us to its period, and a period up to 4 s");
        }
        if needs && priority == 0 {
            return Err("have a priority above the background to be by deadline or to leave it");
        }
        Ok(Self {
            priority,
            reservation: Some(Reservation {
                budget,
                period,
                by_deadline,
                background,
            }),
        })
    }

    /// That of a VM whose description says nothing: Tenon before others.
    pub const fn of(kind: Kind) -> Self {
        Self {
            priority: match kind {
                Kind::Tenon => 32,
                Kind::Linux | Kind::Image => 0,
            },
            reservation: None,
        }
    }

    pub(crate) fn parse<'a>(node: &Node<'a>, kind: Kind) -> Result<Self, Error<'a>> {
        let mut tuples = node.tuples("schedule", [1, 1, 1, 2, 2])?;
        let Some([priority, policy, exhausted, budget, period]) = tuples.next() else {
            return Ok(Self::of(kind));
        };
        let (0 | 1, 0 | 1, None) = (policy, exhausted, tuples.next()) else {
            return Err(node.invalid("schedule", "be one tuple of known policies"));
        };
        let priority = u8::try_from(priority).unwrap_or(u8::MAX);
        Self::new(priority, policy == 1, exhausted == 1, budget, period)
            .map_err(|must| node.invalid("schedule", must))
    }
}
