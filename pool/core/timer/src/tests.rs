//! The radix heap against a naive model: a vector sorted by deadline and order of start.

extern crate std;

use crate::test_timer::{Timer, span, timers};
use crate::{RadixHeap, Step};
use proptest::prelude::*;
use std::vec::Vec;

/// All due timers in order of expiry, as an interrupt handler expires them.
fn expire<'a>(queue: &RadixHeap<&'a Timer<'a>>, now: u64) -> Vec<usize> {
    let mut expired = Vec::new();
    loop {
        if let Some((timer, next)) = queue.expire_single(now) {
            timer.state.set_idle();
            expired.push(timer.number);
            assert_eq!(queue.alarm(), next);
            if next > now {
                return expired;
            }
        }
        match queue.expire(now) {
            Step::Expired(timer) => expired.push(timer.number),
            Step::Moved => {}
            Step::Idle => return expired,
        }
    }
}

/// Number of steps that move timers until all have expired.
fn moves<'a>(queue: &RadixHeap<&'a Timer<'a>>) -> usize {
    let mut moves = 0;
    loop {
        match queue.expire(u64::MAX) {
            Step::Moved => moves += 1,
            Step::Expired(_) => {}
            Step::Idle => return moves,
        }
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Start(usize, u64),
    Restart(usize, u64),
    Cancel(usize),
    Advance(u64),
    Step,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (0..12usize, span(40)).prop_map(|(i, span)| Operation::Start(i, span)),
        // On a grid, so that many have equal deadlines.
        4 => (0..12usize, 0..4u64).prop_map(|(i, slot)| Operation::Start(i, slot * 0x150)),
        // As periodic timers with a common period.
        4 => (0..12usize, 0..4u64).prop_map(|(i, slot)| Operation::Restart(i, slot * 0x150)),
        1 => (0..12usize).prop_map(Operation::Cancel),
        2 => span(40).prop_map(Operation::Advance),
        1 => Just(Operation::Step),
    ]
}

proptest! {
    #[test]
    fn expires_like_the_model(operations in prop::collection::vec(operation(), 0..200)) {
        let timers = timers(12);
        let queue = RadixHeap::new();
        let mut model: Vec<(u64, usize)> = Vec::new();
        // Timers started between two steps: their order among equals is undefined.
        let mut between: Vec<usize> = Vec::new();
        let mut stepping = false;
        let (mut now, mut alarm) = (0u64, u64::MAX);
        for operation in operations {
            match operation {
                Operation::Start(i, span) | Operation::Restart(i, span) => {
                    let again = matches!(operation, Operation::Restart(..)) && !timers[i].state.is_pending();
                    let started = if again {
                        queue.restart(&timers[i], now + span)
                    } else {
                        queue.start(&timers[i], now + span)
                    };
                    // Each deadline before the compare value changes it.
                    if let Some(ticks) = started {
                        prop_assert!(ticks < alarm);
                        alarm = ticks;
                    }
                    model.retain(|&(_, other)| other != i);
                    model.push((now + span, i));
                    between.retain(|&other| other != i);
                    if stepping {
                        between.push(i);
                    }
                }
                Operation::Cancel(i) => {
                    let pending = model.iter().any(|&(_, other)| other == i);
                    prop_assert_eq!(queue.cancel(&timers[i]), pending);
                    model.retain(|&(_, other)| other != i);
                }
                Operation::Advance(span) => {
                    now += span;
                    let mut due: Vec<_> =
                        model.iter().copied().filter(|&(deadline, _)| deadline <= now).collect();
                    due.sort_by_key(|&(deadline, _)| deadline);
                    model.retain(|&(deadline, _)| deadline > now);
                    let expired = if alarm <= now { expire(&queue, now) } else { Vec::new() };
                    stepping = false;
                    if alarm <= now {
                        alarm = queue.alarm();
                    }
                    prop_assert_eq!(expired.len(), due.len());
                    let mut rest = &expired[..];
                    for equals in due.chunk_by(|a, b| a.0 == b.0) {
                        let (mut group, later) = rest.split_at(equals.len());
                        let mut expected: Vec<_> = equals.iter().map(|&(_, number)| number).collect();
                        let mut sorted = group.to_vec();
                        if expected.iter().any(|number| between.contains(number)) {
                            expected.sort_unstable();
                            sorted.sort_unstable();
                            group = &sorted;
                        }
                        prop_assert_eq!(group, &expected[..]);
                        rest = later;
                    }
                }
                // A step outside the handler, as when interrupts are unmasked: no timer may expire
                // early.
                Operation::Step => match queue.expire(now) {
                    Step::Expired(timer) => {
                        stepping = true;
                        let earliest = model.iter().map(|&(deadline, _)| deadline).min();
                        let place = model.iter().position(|&(_, other)| other == timer.number);
                        let (deadline, _) = model.remove(place.expect("pending"));
                        prop_assert!(deadline <= now);
                        prop_assert_eq!(Some(deadline), earliest);
                    }
                    Step::Moved => stepping = true,
                    Step::Idle => {
                        prop_assert!(model.iter().all(|&(deadline, _)| deadline > now));
                        alarm = queue.alarm();
                    }
                },
            }
            let earliest = model.iter().map(|&(deadline, _)| deadline).min();
            // Never late; early only if the earliest timer of a slot was cancelled.
            prop_assert_eq!(queue.alarm(), alarm);
            prop_assert!(alarm <= earliest.unwrap_or(u64::MAX), "the hardware is set in time");
            for (i, timer) in timers.iter().enumerate() {
                prop_assert_eq!(timer.state.is_pending(), model.iter().any(|&(_, other)| other == i));
            }
        }
    }

    #[test]
    fn is_set_for_the_very_deadline(deadlines in prop::collection::vec(any::<u64>(), 1..40)) {
        let timers = timers(deadlines.len());
        let queue = RadixHeap::new();
        for (timer, &deadline) in timers.iter().zip(&deadlines) {
            queue.start(timer, deadline);
        }
        let mut sorted = deadlines;
        sorted.sort_unstable();
        sorted.dedup();
        for deadline in sorted {
            prop_assert_eq!(queue.alarm(), deadline);
            prop_assert!(!expire(&queue, deadline).is_empty());
        }
        prop_assert_eq!(queue.alarm(), u64::MAX);
    }

    #[test]
    fn a_timer_moves_once_per_level_at_most(deadlines in prop::collection::vec(span(40), 1..200)) {
        let timers = timers(deadlines.len());
        let queue = RadixHeap::new();
        for (timer, &deadline) in timers.iter().zip(&deadlines) {
            queue.start(timer, deadline);
        }
        prop_assert!(moves(&queue) <= deadlines.len() * 16);
    }

    /// Any number of timers with one deadline move in one step.
    #[test]
    fn peers_are_moved_together(deadline in 0x1000..0x1_0000u64, peers in 1..50usize) {
        let timers = timers(peers + 1);
        let queue = RadixHeap::new();
        queue.start(&timers[0], 0x1000);
        timers[1..].iter().for_each(|timer| {
            queue.start(timer, deadline);
        });
        prop_assert!(moves(&queue) <= 4);
    }
}

#[test]
fn a_deadline_that_passed_is_due_at_once() {
    let (first, late) = (Timer::new(0), Timer::new(1));
    let queue = RadixHeap::new();
    queue.start(&first, 1_000);
    assert_eq!(expire(&queue, 5_000), [0]);
    queue.start(&late, 10);
    assert_eq!(expire(&queue, 5_000), [1]);
}

#[test]
fn a_lonely_timer_expires_without_being_moved() {
    let timer = Timer::new(0);
    let queue = RadixHeap::new();
    queue.start(&timer, 123_456_789);
    assert!(matches!(queue.expire(123_456_789), Step::Expired(_)));
}

#[test]
fn the_only_timer_that_is_due_expires_in_one_step() {
    let timers = timers(2);
    let queue = RadixHeap::new();
    queue.start(&timers[0], 100);
    queue.start(&timers[1], 300);
    assert!(queue.expire_single(99).is_none(), "not yet");
    for (now, number, next) in [(100, 0, 300), (301, 1, u64::MAX)] {
        let (timer, after) = queue.expire_single(now).expect("one is due");
        timer.state.set_idle();
        assert_eq!((timer.number, after, queue.alarm()), (number, next, next));
    }
    assert!(queue.expire_single(u64::MAX).is_none());
}

#[test]
fn the_step_of_a_single_timer_leaves_a_later_one_in_the_slot_of_a_cancelled_one() {
    let timers = timers(2);
    let queue = RadixHeap::new();
    queue.start(&timers[0], 0x64);
    queue.start(&timers[1], 0x69);
    assert!(queue.cancel(&timers[0]));
    assert!(queue.expire_single(0x64).is_none());
    assert_eq!(expire(&queue, 0x68), []);
    assert_eq!(expire(&queue, 0x69), [1]);
}

#[test]
fn a_timer_can_be_cancelled_while_its_slot_is_redistributed() {
    let timers = timers(3);
    let queue = RadixHeap::new();
    for (timer, deadline) in timers.iter().zip([0x1_0000, 0x1_0001, 0x1_0002]) {
        queue.start(timer, deadline);
    }
    assert!(matches!(
        queue.expire(0x2_0000),
        Step::Expired(&Timer { number: 0, .. })
    ));
    assert!(queue.cancel(&timers[2]));
    assert_eq!(expire(&queue, 0x2_0000), [1]);
}

proptest! {
    #[test]
    fn a_sorted_list_agrees_with_the_model(
        steps in prop::collection::vec((0..6usize, 0..3u8, 0..40u64), 1..60),
    ) {
        let timers = timers(6);
        let queue = crate::SortedTimerList::new();
        let mut model: Vec<(u64, usize)> = Vec::new();
        let mut now = 0;
        for (number, what, time) in steps {
            let timer = &timers[number];
            let pending = model.iter().any(|(_, other)| *other == number);
            match what {
                0 => {
                    model.retain(|(_, other)| *other != number);
                    let behind = model.iter().filter(|(deadline, _)| *deadline <= now + time).count();
                    model.insert(behind, (now + time, number));
                    let alarm = queue.start(timer, now + time);
                    prop_assert_eq!(alarm, (behind == 0).then_some(now + time));
                }
                1 => {
                    model.retain(|(_, other)| *other != number);
                    prop_assert_eq!(queue.cancel(timer), pending);
                }
                _ => {
                    now += time;
                    let due = model.iter().take_while(|(deadline, _)| *deadline <= now).count();
                    for (_, number) in model.drain(..due) {
                        let timer = queue.expire(now).ok().unwrap();
                        prop_assert_eq!(timer.number, number);
                        timer.state.set_idle();
                    }
                    let next = model.first().map_or(u64::MAX, |(deadline, _)| *deadline);
                    prop_assert_eq!(queue.expire(now).err(), Some(next));
                }
            }
        }
    }
}

/// The timers that expire at `now`, each restarted as a periodic one for `next`; with each, whether
/// it rejoined the one before it.
fn restart_all<'a>(queue: &RadixHeap<&'a Timer<'a>>, now: u64, next: u64) -> Vec<(usize, bool)> {
    let mut expired = Vec::new();
    loop {
        let timer = match queue.pop() {
            Some(timer) => timer,
            None => match queue.cascade(now) {
                Step::Expired(timer) => timer,
                Step::Moved => continue,
                Step::Idle => return expired,
            },
        };
        let rejoined = queue.rejoin(timer, next);
        if !rejoined {
            queue.restart(timer, next);
        }
        expired.push((timer.number, rejoined));
    }
}

#[test]
fn periodic_timers_of_one_period_rejoin_the_first() {
    let timers = timers(3);
    let queue = RadixHeap::new();
    for timer in &timers {
        queue.start(timer, 100);
    }
    for now in [100, 200, 300] {
        let expired = restart_all(&queue, now, now + 100);
        assert_eq!(expired, [(0, false), (1, true), (2, true)]);
        assert_eq!(queue.alarm(), now + 100);
        assert!(timers.iter().all(|timer| timer.state.is_pending()));
        assert!(
            timers
                .iter()
                .all(|timer| timer.state.deadline() == now + 100)
        );
    }
    assert!(queue.cancel(&timers[1]));
    assert_eq!(restart_all(&queue, 400, 500), [(0, false), (2, true)]);
}

#[test]
fn a_timer_rejoins_no_other_deadline_and_no_leader_that_left() {
    let timers = timers(4);
    let queue = RadixHeap::new();
    for timer in &timers[..3] {
        queue.start(timer, 100);
    }
    let due = |queue: &RadixHeap<_>| match queue.pop() {
        Some(timer) => timer,
        None => match queue.cascade(100) {
            Step::Expired(timer) => timer,
            Step::Moved | Step::Idle => panic!("all three are due"),
        },
    };
    let first: &Timer = due(&queue);
    queue.restart(first, 200);
    let second = due(&queue);
    assert!(!queue.rejoin(second, 201), "another deadline");
    assert!(queue.rejoin(second, 200));
    assert!(queue.cancel(first));
    let third = due(&queue);
    assert!(!queue.rejoin(third, 200), "its leader left");
    queue.restart(third, 200);
    queue.start(&timers[3], 150);
    assert_eq!(expire(&queue, 150), [3]);
    assert_eq!(expire(&queue, 199), []);
    assert_eq!(expire(&queue, 200), [1, 2]);
}

#[test]
fn a_timer_restarted_with_others_lets_the_next_one_rejoin_them() {
    let timers = timers(3);
    let queue = RadixHeap::new();
    queue.start(&timers[0], 200);
    queue.start(&timers[1], 100);
    queue.start(&timers[2], 100);
    assert_eq!(restart_all(&queue, 100, 200), [(1, false), (2, true)]);
    assert_eq!(expire(&queue, 200), [0, 1, 2]);
}

#[test]
fn a_reset_heap_needs_no_interrupt_until_a_start() {
    let timer = Timer::new(0);
    let queue = RadixHeap::unset();
    queue.reset();
    assert_eq!(queue.alarm(), u64::MAX);
    assert!(matches!(queue.expire(1_000), Step::Idle));
    assert_eq!(queue.start(&timer, 2_000), Some(2_000));
    assert_eq!(expire(&queue, 2_000), [0]);
}
