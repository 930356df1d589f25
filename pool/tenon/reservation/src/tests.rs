//! Reservations, beside a model that executes threads tick by tick.

use crate::{Parameters, Reservations};
use proptest::prelude::*;

fn parameters(budget: u64, deadline: u64, period: u64) -> Parameters {
    Parameters {
        budget,
        deadline,
        period,
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut all = Reservations::<3>::new();
    assert!(all.set(7, parameters(50, 100, 100), 0, 0));
    assert!(!all.set(8, parameters(46, 100, 100), 0, 0));
    assert!(all.set(8, parameters(45, 50, 100), 0, 0));
    // In place of its own reservation.
    assert!(all.set(7, parameters(20, 100, 100), 0, 0));
    assert!(all.set(9, parameters(10, 100, 100), 0, 0));
    // There is no room in the table.
    assert!(!all.set(10, parameters(1, 100, 100), 0, 0));
    all.remove(7);
    assert!(all.set(10, parameters(1, 100, 100), 0, 0));
    assert_eq!(all.count(), 3);
}

#[test]
fn a_depleted_budget_is_replenished_at_the_next_period() {
    let mut all = Reservations::<2>::new();
    assert!(all.set(0, parameters(10, 40, 40), 100, 5));
    assert_eq!(all.next_update(100), Some(110));
    all.account(0, 18);
    all.update(120);
    assert_eq!(
        (all.throttled_until(0), all.take_overrun(0)),
        (Some(140), true)
    );
    assert_eq!(all.ranks().next(), Some((0, None)));
    assert!(!all.take_overrun(0));
    all.update(140);
    assert_eq!(
        (all.throttled_until(0), all.next_update(140)),
        (None, Some(147))
    );
    // Two budgets too much cost two periods.
    all.account(0, 18 + 7 + 20);
    all.update(170);
    assert_eq!(all.throttled_until(0), Some(180));
    all.update(180);
    assert_eq!(
        (all.throttled_until(0), all.next_update(180)),
        (None, Some(190))
    );
    all.give_up(0, 185);
    assert_eq!(all.throttled_until(0), Some(300));
}

#[test]
fn a_thread_that_wakes_has_no_more_than_its_share() {
    let mut all = Reservations::<1>::new();
    assert!(all.set(0, parameters(10, 40, 40), 0, 0));
    all.account(0, 2);
    all.block(0);
    assert_eq!(all.next_update(2), None);
    // 8 of 38 are left, which is within its share.
    all.wake(0, 4);
    assert_eq!(all.next_update(4), Some(12));
    all.block(0);
    // 8 of 20 are more than a quarter: a new deadline.
    all.wake(0, 20);
    all.account(0, 12);
    all.update(30);
    assert_eq!(all.throttled_until(0), Some(60));
    // Behind its deadline, and before the next period.
    all.remove(0);
    assert!(all.set(0, parameters(10, 20, 40), 0, 12));
    all.wake(0, 25);
    assert_eq!(all.throttled_until(0), Some(40));
}

proptest! {
    /// Threads that always want to run have their budgets by their deadlines, whatever else is
    /// reserved, and no more than their shares.
    #[test]
    fn every_budget_is_had_by_its_deadline(
        wanted in proptest::collection::vec((1u64..20, 10u64..60), 1..5),
    ) {
        let mut all = Reservations::<5>::new();
        let mut admitted = Vec::new();
        for (place, (budget, period)) in wanted.into_iter().enumerate() {
            let wish = parameters(budget, period, period);
            if budget <= period && all.set(place, wish, 0, 0) {
                admitted.push((place, wish));
            }
        }
        let mut executed = [0; 5];
        for now in 1..=2000u64 {
            let ranks: Vec<_> = all.ranks().collect();
            let first = ranks.iter().filter_map(|(place, rank)| Some((rank.as_ref()?, place)));
            if let Some((_, place)) = first.min() {
                executed[*place] += 1;
                all.account(*place, executed[*place]);
            }
            all.update(now);
            for (place, wish) in &admitted {
                let periods = now / wish.period;
                prop_assert!(executed[*place] >= periods * wish.budget, "{place} at {now}");
                prop_assert!(executed[*place] <= (periods + 1) * wish.budget);
            }
        }
    }
}
