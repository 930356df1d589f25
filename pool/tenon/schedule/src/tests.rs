//! Policies, levels and inheritance.

use crate::{Change, Errno, Levels, OWNER_DIED, Outcome, Policy, Reservation, Schedule};
use crate::{Schedules, WAITERS};
use proptest::prelude::*;

fn real_time(priority: u32) -> Schedule {
    let change = Change::policy(Policy::Fifo, priority);
    Schedule::default().changed(&change).unwrap()
}

fn reserved(runtime: u64, deadline: u64, period: u64) -> Change {
    let reservation = Reservation {
        runtime,
        deadline,
        period,
        flags: 0,
    };
    Change {
        reservation,
        ..Change::policy(Policy::Deadline, 0)
    }
}

#[test]
fn values_that_do_not_exist_are_refused() {
    let usual = Schedule::default();
    let refused = |change: Change| usual.changed(&change) == Err(Errno::EINVAL);
    assert!(refused(Change::policy(Policy::Other, 1)));
    assert!(refused(Change::policy(Policy::Fifo, 0)));
    assert!(refused(Change::policy(Policy::RoundRobin, 100)));
    let policy = |policy| Change {
        policy: Some(policy),
        ..Change::default()
    };
    assert!(refused(policy(4)) && refused(policy(77)) && !refused(policy(5)));
    assert!(refused(Change {
        flags: 0x80,
        ..Change::default()
    }));
    assert!(refused(reserved(1000, 1_000_000, 0)));
    assert!(refused(reserved(2_000_000, 1_000_000, 0)));
    assert!(refused(reserved(10_000, 50_000, 0)));
    assert!(refused(reserved(10_000, 200_000, 100_000)));
    assert!(!refused(reserved(10_000, 200_000, 0)));
}

#[test]
fn nice_values_have_the_shares_of_linux() {
    let slice = |nice| {
        let schedule = Schedule {
            nice,
            ..Schedule::default()
        };
        schedule.slice(1_024_000).unwrap() as f64 / 1000.0
    };
    // Shares in Linux, by `man 7 sched`: 1.25 for each step.
    for (nice, weight) in [(-20, 88761.0), (-10, 9548.0), (5, 335.0), (10, 110.0)] {
        let share: f64 = slice(nice) / weight;
        assert!((0.98..1.02).contains(&share), "{nice}: {share}");
    }
    assert_eq!(real_time(3).slice(1), None);
}

#[test]
fn children_of_a_reset_are_usual() {
    let mut parent = real_time(50);
    assert_eq!(parent.child(), Ok(parent));
    parent.reset_on_fork = true;
    assert_eq!(parent.child(), Ok(Schedule::default()));
    let nice = |nice| Schedule {
        nice,
        reset_on_fork: true,
        ..Schedule::default()
    };
    assert_eq!(nice(-5).child().map(|child| child.nice), Ok(0));
    assert_eq!(nice(5).child().map(|child| child.nice), Ok(5));
    let deadline = Schedule::default().changed(&reserved(10_000, 200_000, 0));
    assert_eq!(deadline.unwrap().child(), Err(Errno::EAGAIN));
}

#[test]
fn a_user_raises_priorities_up_to_its_limits() {
    let usual = Schedule::default();
    assert!(!usual.permits(&real_time(1), (0, 0)));
    assert!(usual.permits(&real_time(10), (0, 10)));
    assert!(!usual.permits(&real_time(11), (0, 10)));
    assert!(real_time(20).permits(&real_time(15), (0, 10)));
    assert!(real_time(20).permits(&usual, (0, 0)));
    assert!(usual.permits_nice(3, 0) && !usual.permits_nice(-1, 20) && usual.permits_nice(-1, 21));
    let idle = usual.changed(&Change::policy(Policy::Idle, 0)).unwrap();
    assert!(usual.permits(&idle, (0, 0)) && !idle.permits(&usual, (0, 0)));
    assert!(idle.permits(&usual, (20, 0)));
    let reset = Schedule {
        reset_on_fork: true,
        ..usual
    };
    assert!(!reset.permits(&usual, (0, 0)) && usual.permits(&reset, (0, 0)));
}

#[test]
fn reservations_keep_their_flags_and_have_levels_elsewhere() {
    let wanted = Change {
        flags: 7,
        ..reserved(400_000, 1_000_000, 0)
    };
    let schedule = Schedule::default().changed(&wanted).unwrap();
    assert_eq!(
        (schedule.reservation.flags, schedule.reset_on_fork),
        (6, true)
    );
    let mut entries = [const { None }; 3];
    let mut schedules = Schedules::<u32>::new(&mut entries);
    schedules.add(0, 1, schedule);
    schedules.add(2, 3, real_time(99));
    schedules.assign(Levels::new(2, 30, 30));
    assert_eq!(schedules.levels().collect::<Vec<_>>(), [(2, 3)]);
}

#[test]
fn priorities_have_levels_in_their_order() {
    let mut entries = [const { None }; 128];
    let mut schedules = Schedules::<u32>::new(&mut entries);
    let levels = Levels::new(2, 8, 8);
    for (place, priority) in [1, 80, 79, 99].into_iter().enumerate() {
        schedules.add(place, place as u32 + 1, real_time(priority));
    }
    schedules.add(4, 5, Schedule::default());
    schedules.assign(levels);
    let all: Vec<_> = (0..5).map(|place| schedules.level(place)).collect();
    assert_eq!(all, [3, 5, 4, 6, 2]);
    for priority in 1..=99 {
        schedules.add(
            5 + priority,
            10 + priority as u32,
            real_time(priority as u32),
        );
    }
    schedules.assign(levels);
    let all: Vec<_> = (6..105).map(|place| schedules.level(place)).collect();
    assert!(all.is_sorted() && all[0] == 3 && all[98] == 7);
}

/// Threads 100, 101, … with these priorities.
fn with_threads(priorities: &[u32], test: impl FnOnce(&mut Schedules<'_, char>)) {
    let mut entries = [const { None }; 8];
    let mut schedules = Schedules::new(&mut entries);
    for (place, &priority) in priorities.iter().enumerate() {
        schedules.add(place, 100 + place as u32, real_time(priority));
    }
    test(&mut schedules);
}

#[test]
fn an_owner_inherits_along_the_chain_until_it_hands_over() {
    with_threads(&[10, 20, 30, 25], |schedules| {
        let free = schedules.attempt(0, 'a', 0);
        assert_eq!((free.word, free.outcome), (100, Ok(Outcome::Owns)));
        let taken = schedules.attempt(1, 'a', 100);
        assert_eq!(taken.word, 100 | WAITERS);
        assert_eq!(taken.outcome, Ok(Outcome::Waits(100)));
        schedules.wait(1, ('a', 0), 100);
        assert_eq!(schedules.urgency(0), 20);
        // 101 owns `b`.
        schedules.wait(2, ('b', 0), 101);
        assert_eq!([schedules.urgency(0), schedules.urgency(1)], [30, 30]);
        schedules.wait(3, ('a', 0), 100);
        // Its own 25 is less than the 30 that 101 inherits.
        assert_eq!(schedules.heir('a', false), Some((1, 101 | WAITERS)));
        schedules.hand_over(1);
        assert_eq!([schedules.urgency(0), schedules.urgency(1)], [10, 30]);
        assert_eq!(schedules.owned(1), Some('b'));
        assert!(schedules.leave(2) && !schedules.leave(2));
        assert_eq!(schedules.urgency(1), 25);
        assert_eq!(
            schedules.heir('a', true),
            Some((3, 103 | WAITERS | OWNER_DIED))
        );
    });
}

#[test]
fn circles_and_owners_that_do_not_exist_are_refused() {
    with_threads(&[1, 2, 3], |schedules| {
        let own = schedules.attempt(0, 'a', 100);
        assert_eq!((own.word, own.outcome), (100, Err(Errno::EDEADLK)));
        schedules.wait(1, ('a', 0), 100);
        schedules.wait(2, ('b', 0), 101);
        let circle = schedules.attempt(0, 'c', 102 | WAITERS);
        assert_eq!(circle.outcome, Err(Errno::EDEADLK));
        assert_eq!(schedules.attempt(0, 'd', 7).outcome, Err(Errno::ESRCH));
    });
}

proptest! {
    /// After any row of waits and their ends, each urgency is the highest of the thread's own and of
    /// those that wait for it, directly or by others.
    #[test]
    fn urgencies_are_those_of_all_waiters(
        steps in prop::collection::vec((0usize..6, 0usize..6, 0u32..3, 1u32..99), 1..60)
    ) {
        with_threads(&[1, 2, 3, 4, 5, 6], |schedules| {
            for (place, owner, kind, priority) in steps {
                match kind {
                    0 => {
                        let word = 100 + owner as u32;
                        let attempt = schedules.attempt(place, 'x', word);
                        if !schedules.waits(place)
                            && let Ok(Outcome::Waits(owner)) = attempt.outcome
                        {
                            let lock = char::from(b'a' + (owner - 100) as u8);
                            schedules.wait(place, (lock, 0), owner);
                        }
                    }
                    1 => drop(schedules.leave(place)),
                    _ => schedules.set(place, real_time(priority)),
                }
                for place in 0..6 {
                    let mut highest = schedules.get(place).unwrap().priority;
                    for other in 0..6 {
                        let mut at = other;
                        while let Some(wait) = schedules.at(at).unwrap().wait {
                            at = schedules.place(wait.owner).unwrap();
                            if at == place {
                                highest = highest.max(schedules.get(other).unwrap().priority);
                            }
                        }
                    }
                    assert_eq!(schedules.urgency(place), highest);
                }
            }
        });
    }
}
