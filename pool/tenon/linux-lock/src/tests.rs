//! Tests of locks for ranges, against a model by bytes.

use crate::ranges::{Kind, Lock, Owner, Ranges};
use proptest::prelude::*;
use tenon_process::{Errno, Frames};

const BYTES: u64 = 24;

fn lock(owner: u32, exclusive: bool, first: u64, last: u64) -> Lock {
    Lock {
        inode: 7,
        owner: Owner::Process(owner),
        kind: Kind::Record,
        exclusive,
        first,
        last,
        process: owner,
    }
}

proptest! {
    #[test]
    fn locks_are_those_of_a_model_by_bytes(
        steps in prop::collection::vec((0..3u32, 0..3u8, 0..BYTES, 1..BYTES), 1..60),
    ) {
        let mut frames = Frames::of_host(8);
        let total = frames.available();
        let mut ranges = Ranges::new();
        // What each owner has of each byte.
        let mut model = [[None; BYTES as usize]; 3];
        for (owner, kind, first, length) in steps {
            let last = (first + length - 1).min(BYTES - 1);
            let own = lock(owner, kind == 1, first, last);
            let bytes = first as usize..=last as usize;
            let conflict = model.iter().enumerate().any(|(other, held)| {
                other != owner as usize
                    && bytes.clone().any(|at| held[at].is_some_and(|held| held || kind == 1))
            });
            prop_assert_eq!(ranges.conflict(&own).is_some(), conflict);
            if kind == 2 || !conflict {
                prop_assert_eq!(ranges.apply(own, kind != 2, &mut frames), Ok(()));
                model[owner as usize][bytes].fill((kind != 2).then_some(kind == 1));
            }
            for at in 0..BYTES {
                for exclusive in [false, true] {
                    let found = ranges.conflict(&lock(9, exclusive, at, at)).is_some();
                    let held = |held: &[Option<bool>; BYTES as usize]| {
                        held[at as usize].is_some_and(|held| held || exclusive)
                    };
                    prop_assert_eq!(found, model.iter().any(held));
                }
            }
        }
        for owner in 0..3 {
            ranges.end(Owner::Process(owner), Some(7), &mut frames);
        }
        prop_assert_eq!(frames.available(), total);
    }
}

#[test]
fn a_wait_that_closes_a_ring_is_refused() {
    let mut frames = Frames::of_host(8);
    let mut ranges = Ranges::new();
    let [a, b, c] = [1, 2, 3].map(Owner::Process);
    let first = ranges.wait(a, b, &mut frames).unwrap();
    assert_eq!(ranges.wait(b, a, &mut frames), Err(Errno::EDEADLK));
    ranges.wait(b, c, &mut frames).unwrap();
    assert_eq!(ranges.wait(c, a, &mut frames), Err(Errno::EDEADLK));
    ranges.end_wait(first, &mut frames);
    assert!(ranges.wait(c, a, &mut frames).is_ok());
}
