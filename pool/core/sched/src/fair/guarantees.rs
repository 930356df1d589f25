//! Guarantees of servers: admitted budgets are kept, and the background is fair.

extern crate std;

use super::FairServers;
use super::model::{SLICE, Share, events, reservation, run, share, threads};
use crate::guarantees::Supply;
use proptest::prelude::*;
use std::vec::Vec;

/// Whether the admission test accepts all reservations one after the other.
fn are_admitted(shares: &[Share]) -> bool {
    let threads = threads(shares.len());
    let servers = FairServers::new();
    let mut shares = threads.iter().zip(shares);
    shares.all(|(thread, &share)| {
        reservation(share).is_some_and(|own| {
            let admitted = servers.admits(own);
            servers.attach(thread, Some(own), 0);
            admitted
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// An admitted server that is ready for a whole period receives its budget in it.
    #[test]
    fn an_admitted_reservation_is_kept(
        shares in prop::collection::vec(share().prop_map(|share| {
            share.map(|(budget, period)| (budget, period * 3))
        }), 3).prop_filter("admitted", |shares| are_admitted(shares)),
        rest in prop::collection::vec(Just(None), 0..3),
        events in events(6),
    ) {
        let shares: Vec<Share> = shares.into_iter().chain(rest).collect();
        let events: Vec<_> = events.into_iter().filter(|&(_, i, _)| i < shares.len()).collect();
        let mut supply = Supply::new(shares.clone());
        run(&shares, &events, |now, happened, runs| supply.step(now, happened, runs));
        prop_assert_eq!(supply.failure, None);
    }

    /// Of the servers that are ready in the background all the time, none receives two slices more
    /// than another, whatever the others do.
    #[test]
    fn the_background_is_fair(coming in prop::collection::vec(share(), 2), events in events(2)) {
        let mut shares = coming;
        shares.extend([None, None]);
        let mut all = std::vec![(0, 2, true), (0, 3, true)];
        all.extend(events);
        let mut got = [0i64; 4];
        let mut most = 0;
        run(&shares, &all, |_, _, runs| {
            if let Some(i) = runs {
                got[i] += 1;
            }
            most = most.max((got[2] - got[3]).abs());
        });
        prop_assert!(most <= 2 * SLICE as i64, "{} ticks more", most);
    }
}

#[test]
fn no_overload_is_admitted() {
    assert!(are_admitted(&[Some((2, 10)), Some((6, 20))]));
    // The server with the shorter period can consume two budgets back to back.
    assert!(!are_admitted(&[Some((5, 10)), Some((5, 12))]));
    assert!(!are_admitted(&[Some((6, 10)), Some((5, 10))]));
}
