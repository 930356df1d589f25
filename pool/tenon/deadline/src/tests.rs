//! Tests: the heap against a sorted model, intervals.

use crate::{Deadlines, Interval, Place};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Start(usize, u64),
    Cancel(usize),
    Expire(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..20usize, 1..40u64).prop_map(|(number, at)| Step::Start(number, at)),
        1 => (0..20usize).prop_map(Step::Cancel),
        2 => (0..40u64).prop_map(Step::Expire),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #[test]
    fn deadlines_expire_in_order(steps in steps()) {
        let mut deadlines = Deadlines::new(vec![Place::FREE; 20].leak());
        let mut model = BTreeMap::new();
        for step in steps {
            match step {
                Step::Start(number, at) => {
                    let earliest = deadlines.start(number, at);
                    model.insert(number, at);
                    let least = model.values().min().copied();
                    prop_assert!(!earliest || Some(at) == least);
                    prop_assert!(earliest || model.values().any(|other| *other <= at));
                }
                Step::Cancel(number) => {
                    prop_assert_eq!(deadlines.cancel(number), model.remove(&number).is_some());
                }
                Step::Expire(now) => {
                    let expired = deadlines.expire(now);
                    let least = model.values().min().copied();
                    match expired {
                        Some(number) => {
                            let at = model.remove(&number);
                            prop_assert!(at.is_some() && at == least && at <= Some(now));
                        }
                        None => prop_assert!(least.is_none_or(|least| least > now)),
                    }
                }
            }
            prop_assert_eq!(deadlines.earliest(), model.values().min().copied());
            for number in 0..20 {
                prop_assert_eq!(deadlines.get(number), model.get(&number).copied());
            }
        }
    }

    #[test]
    fn a_period_counts_what_it_missed(expiry in 1..1000u64, period in 1..50u64, late in 0..500u64) {
        let mut interval = Interval { expiry, period };
        let now = expiry + late;
        let rest = interval.rest(now);
        prop_assert!(rest >= 1 && rest <= period);
        prop_assert_eq!(interval.advance(now), late / period);
        prop_assert!(interval.expiry > now && interval.expiry <= now + period);
        prop_assert_eq!((interval.expiry - expiry) % period, 0);
        prop_assert_eq!(interval.rest(now), rest);
    }
}

#[test]
fn a_number_beyond_the_places_is_not_started() {
    let mut deadlines = Deadlines::new(vec![Place::FREE; 2].leak());
    assert!(!deadlines.start(2, 1));
    assert!(!deadlines.cancel(2));
    assert_eq!(deadlines.earliest(), None);
}

#[test]
fn a_timer_without_a_period_is_over() {
    let mut interval = Interval {
        expiry: 10,
        period: 0,
    };
    assert_eq!((interval.rest(4), interval.rest(12)), (6, 0));
    assert_eq!(interval.advance(12), 0);
    assert!(!interval.is_set());
}
