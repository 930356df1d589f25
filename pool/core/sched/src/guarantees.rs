//! Guarantees of the reservation scheduler: analysed budgets are kept whatever the others do.

extern crate std;

use crate::model::{Share, events, run, share};
use crate::{OnDepletion, Reservation, ReservationScheduler};
use proptest::prelude::*;
use std::vec::Vec;

/// Response-time analysis: whether each budget fits its period while all of equal or higher
/// priority consume theirs as densely as deferrable servers can.
fn is_schedulable(shares: &[Share]) -> bool {
    shares.iter().enumerate().all(|(i, share)| {
        let Some((budget, period)) = share.reservation else {
            return false;
        };
        let above = shares
            .iter()
            .enumerate()
            .filter(|&(j, other)| j != i && other.priority >= share.priority);
        let above: Vec<_> = above.filter_map(|(_, other)| other.reservation).collect();
        let mut response = budget;
        loop {
            let taken = above
                .iter()
                .map(|&(b, p)| (response + p - b).div_ceil(p) * b);
            let next = budget + taken.sum::<u64>();
            if next == response || next > period {
                return next <= period;
            }
            response = next;
        }
    })
}

/// Supply of each entity in its periods: one that is ready for a whole period must receive its budget.
pub(crate) struct Supply {
    reservations: Vec<Option<(u64, u64)>>,
    wants: Vec<bool>,
    whole: Vec<bool>,
    got: Vec<u64>,
    /// The last time at which a budget was not received, and the entity.
    pub(crate) failure: Option<(u64, usize)>,
}

impl Supply {
    pub(crate) fn new(reservations: Vec<Option<(u64, u64)>>) -> Self {
        let count = reservations.len();
        Self {
            reservations,
            wants: std::vec![false; count],
            whole: std::vec![false; count],
            got: std::vec![0; count],
            failure: None,
        }
    }

    /// Counts one tick: the entities that woke or blocked, and the one that runs.
    pub(crate) fn step(&mut self, now: u64, happened: &[(usize, bool)], runs: Option<usize>) {
        for (i, reservation) in self.reservations.iter().enumerate() {
            let Some((budget, period)) = *reservation else {
                continue;
            };
            if now.is_multiple_of(period) {
                if self.whole[i] && self.got[i] < budget {
                    self.failure = Some((now, i));
                }
                (self.whole[i], self.got[i]) = (self.wants[i], 0);
            }
        }
        for &(i, wake) in happened {
            self.wants[i] = wake;
            self.whole[i] &= wake;
        }
        if let Some(i) = runs {
            self.got[i] += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// An entity that is ready for a whole period receives its budget in it.
    #[test]
    fn a_schedulable_reservation_is_kept(
        shares in prop::collection::vec(share(), 3).prop_map(|mut shares| {
            shares.iter_mut().for_each(|share| {
                share.deadline = false;
                share.priority = share.priority.max(1);
                share.reservation = share.reservation.map(|(budget, period)| (budget, period * 3));
            });
            shares
        }).prop_filter("schedulable", |shares| is_schedulable(shares)),
        events in events(3),
    ) {
        let reservations: Vec<_> = shares.iter().map(|share| share.reservation).collect();
        let mut supply = Supply::new(reservations);
        run(&shares, &events, |now, happened, runs| supply.step(now, happened, runs));
        prop_assert_eq!(supply.failure, None);
    }

    /// EDF keeps every reservation up to full utilisation, whatever the order of wake-ups.
    #[test]
    fn edf_keeps_reservations_up_to_full_utilisation(
        budgets in prop::collection::vec(1u64..=4, 3),
        start in 0u64..30,
        events in events(2),
    ) {
        // Each period is the budget times the inverse of the utilisation: 1/2, 1/3, 1/6.
        let shares: Vec<Share> = budgets.iter().zip([2, 3, 6]).map(|(&budget, inverse)| Share {
            priority: 1,
            deadline: true,
            reservation: Some((budget, budget * inverse)),
            background: false,
        }).collect();
        // The last entity is ready from its start on; the others wake and block, also before that.
        let (mut all, mut time) = (Vec::new(), 0);
        for (delta, i, wake) in events.into_iter().chain([(1000, 0, false)]) {
            if (time..time + delta).contains(&start) {
                all.extend([(start - time, 2, true), (time + delta - start, i, wake)]);
            } else {
                all.push((delta, i, wake));
            }
            time += delta;
        }
        let (budget, period) = shares[2].reservation.unwrap_or((1, 1));
        let mut got = 0;
        let mut failure = None;
        run(&shares, &all, |now, _, runs| {
            let wanted = now.saturating_sub(start);
            if wanted % period == 0 && got < wanted / period * budget {
                failure = Some(now);
            }
            got += u64::from(runs == Some(2));
        });
        prop_assert_eq!(failure, None);
    }
}

#[test]
fn a_reservation_fits_its_period() {
    assert!(Reservation::new(0, 10, OnDepletion::Wait).is_none());
    assert!(Reservation::new(11, 10, OnDepletion::Wait).is_none());
    assert!(Reservation::new(1, 1 << 32, OnDepletion::Wait).is_none());
    assert!(Reservation::new(10, 10, OnDepletion::Background).is_some());
}

/// A caller that is late by a constant, like the latency of a timer interrupt.
#[test]
fn an_overrun_is_charged_to_the_next_budget() {
    let reserved = |deadline| Share {
        priority: 1,
        deadline,
        reservation: Some((20, 100)),
        background: false,
    };
    for deadline in [false, true] {
        let vcpu = reserved(deadline).vcpu(0);
        let core = ReservationScheduler::new();
        core.set_slice(10);
        core.wake(&vcpu, 0);
        let (mut now, mut got) = (0, 0);
        while now < 10_000 {
            let decision = core.decide(now);
            let then = decision.until.unwrap_or(u64::MAX) + 3;
            if decision.run.is_some() {
                got += then - now;
            }
            now = then;
        }
        assert!((1_980..=2_020).contains(&got), "{got} of 2000 ticks");
    }
}

/// Time slices that each end late by a constant have the right length on average.
#[test]
fn time_slices_have_their_length_on_average() {
    let rest = Share {
        priority: 0,
        deadline: false,
        reservation: None,
        background: false,
    };
    let (one, other) = (rest.vcpu(0), rest.vcpu(1));
    let core = ReservationScheduler::new();
    core.set_slice(10);
    core.wake(&one, 0);
    let alone = core.decide(0);
    assert_eq!(alone.until, None, "nobody waits for the end of its turn");
    core.wake(&other, 15);
    let mut decision = core.decide(15);
    assert_eq!(decision.run.map(|vcpu| vcpu.number), Some(1));
    assert_eq!(
        decision.until,
        Some(25),
        "a whole turn, though the other had more than one"
    );
    for turn in 0..10 {
        let due = 25 + turn * 10;
        assert_eq!(decision.until, Some(due));
        decision = core.decide(due + 2);
    }
}

/// A demotion is reported, and so is the end of it, after which the priority is restored. The same
/// holds for an entity that blocks with any budget left.
#[test]
fn demotion_is_reported() {
    let share = Share {
        priority: 2,
        deadline: false,
        reservation: Some((2, 10)),
        background: true,
    };
    let vcpu = share.vcpu(0);
    let core = ReservationScheduler::new();
    core.set_slice(5);
    core.wake(&vcpu, 0);
    assert_eq!(core.decide(0).until, Some(2));
    core.decide(2);
    assert_eq!((vcpu.behind.get(), vcpu.priority()), (true, 0));
    core.decide(10);
    assert_eq!((vcpu.behind.get(), vcpu.priority()), (false, 2));
    core.decide(12);
    assert!(vcpu.behind.get());
    core.block(&vcpu, 13);
    assert_eq!((vcpu.behind.get(), vcpu.priority()), (false, 2));
}

/// A caller that takes an imminent event for due charges slightly ahead of time.
#[test]
fn an_early_charge_is_corrected() {
    for (deadline, priority) in [(false, 1), (true, 1), (false, 0)] {
        let share = Share {
            priority,
            deadline,
            reservation: Some((20, 100)),
            background: false,
        };
        let (vcpu, other) = (share.vcpu(0), share.vcpu(1));
        let core = ReservationScheduler::new();
        core.set_slice(10);
        core.wake(&vcpu, 0);
        assert_eq!(core.decide(0).until, Some(20));
        assert_eq!(core.decide(12).until, Some(20));
        assert_eq!(core.decide(9).until, Some(20));
        core.wake(&other, 21);
        core.block(&vcpu, 18);
        assert_eq!(core.decide(18).run.map(|vcpu| vcpu.number), Some(1));
        core.wake(&vcpu, 19);
        core.block(&other, 19);
        assert_eq!(core.decide(19).until, Some(21), "two are left");
    }
}
