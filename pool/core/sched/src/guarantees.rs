//! What shares guarantee: budgets kept where the analysis says so, whatever the others do.

extern crate std;

use crate::model::{Share, events, run, share};
use crate::{OnDepletion, Reservation, ReservationScheduler};
use proptest::prelude::*;
use std::vec::Vec;

/// Whether response-time analysis grants each budget within its period: those as urgent or more
/// take their budgets as densely as deferrable servers can.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Who has a budget and wants to run for a whole period has the budget in it.
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
        let mut wants = [false; 3];
        let (mut whole, mut got) = ([false; 3], [0; 3]);
        let mut failure = None;
        run(&shares, &events, |now, happened, runs| {
            for (i, share) in shares.iter().enumerate() {
                let (budget, period) = share.reservation.unwrap_or((0, 1));
                if now % period == 0 {
                    if whole[i] && got[i] < budget {
                        failure = Some((now, i));
                    }
                    (whole[i], got[i]) = (wants[i], 0);
                }
            }
            for &(i, wake) in happened {
                wants[i] = wake;
                whole[i] &= wake;
            }
            if let Some(i) = runs {
                got[i] += 1;
            }
        });
        prop_assert_eq!(failure, None);
    }

    /// By deadline, shares of no more than the whole core are kept, whoever wakes when.
    #[test]
    fn deadlines_keep_every_share_of_a_full_core(
        budgets in prop::collection::vec(1u64..=4, 3),
        start in 0u64..30,
        events in events(2),
    ) {
        // The period of each is its budget times the inverse of its share: 1/2, 1/3, 1/6.
        let shares: Vec<Share> = budgets.iter().zip([2, 3, 6]).map(|(&budget, inverse)| Share {
            priority: 1,
            deadline: true,
            reservation: Some((budget, budget * inverse)),
            background: false,
        }).collect();
        // The last one wants to from its start on; the others come and go, before that too.
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

/// A caller that is late each time by the same, as one whose timer's interrupt takes its time.
#[test]
fn what_was_run_too_long_is_of_the_next_budget() {
    let reserved = |deadline| Share {
        priority: 1,
        deadline,
        reservation: Some((20, 100)),
        background: false,
    };
    for deadline in [false, true] {
        let vcpu = reserved(deadline).vcpu(0);
        let core = ReservationScheduler::new(10);
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

/// Turns that end late by the same each time take as long as they should in the mean.
#[test]
fn turns_are_as_long_as_they_should_be() {
    let rest = Share {
        priority: 0,
        deadline: false,
        reservation: None,
        background: false,
    };
    let (one, other) = (rest.vcpu(0), rest.vcpu(1));
    let core = ReservationScheduler::new(10);
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

/// Who runs on without a budget hears of it, and once more when it has one: by then it is as urgent as
/// it was. Of who waits the same is true, whatever it had left.
#[test]
fn who_falls_behind_hears_of_it() {
    let share = Share {
        priority: 2,
        deadline: false,
        reservation: Some((2, 10)),
        background: true,
    };
    let vcpu = share.vcpu(0);
    let core = ReservationScheduler::new(5);
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

/// A caller that takes what is about to come for come is a little ahead of time.
#[test]
fn what_was_charged_ahead_of_time_is_given_back() {
    for (deadline, priority) in [(false, 1), (true, 1), (false, 0)] {
        let share = Share {
            priority,
            deadline,
            reservation: Some((20, 100)),
            background: false,
        };
        let (vcpu, other) = (share.vcpu(0), share.vcpu(1));
        let core = ReservationScheduler::new(10);
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
