//! The wheel against a naive model: a vector of deadlines.

extern crate std;

use crate::test_timer::{Timer, span, timers};
use crate::{Step, TimerQueue, TimingWheel};
use core_list::List;
use proptest::prelude::*;
use std::vec::Vec;

/// The timers that expire up to a tick, each with its tick of expiry, and the number of steps that
/// moved a timer.
fn turn<'a>(wheel: &TimingWheel<&'a Timer<'a>>, tick: u64) -> (Vec<(u64, usize)>, usize) {
    let (mut expired, mut moved) = (Vec::new(), 0);
    loop {
        let before = wheel.tick();
        match wheel.expire(tick) {
            Step::Expired(timer) => expired.push((wheel.tick(), timer.number)),
            Step::Moved => moved += usize::from(wheel.tick() == before),
            Step::Idle => return (expired, moved),
        }
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Start(usize, u64),
    Cancel(usize),
    Advance(u64),
    Step,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (0..12usize, span(13)).prop_map(|(i, span)| Operation::Start(i, span)),
        1 => (0..12usize, any::<u64>()).prop_map(|(i, span)| Operation::Start(i, span)),
        2 => (0..12usize).prop_map(Operation::Cancel),
        2 => span(13).prop_map(Operation::Advance),
        2 => Just(Operation::Step),
    ]
}

proptest! {
    #[test]
    fn expires_like_the_model(
        begin in prop_oneof![Just(0), Just(u64::from(u32::MAX) - 100), 0..1u64 << 60],
        operations in prop::collection::vec(operation(), 0..200),
    ) {
        let timers = timers(12);
        let wheel = TimingWheel::new();
        wheel.begin(begin);
        let mut model: Vec<(u64, usize)> = Vec::new();
        let mut target = begin;
        for operation in operations {
            match operation {
                Operation::Start(i, span) => {
                    let now = wheel.tick();
                    let tick = now.saturating_add(span);
                    wheel.start(&timers[i], tick);
                    model.retain(|&(_, other)| other != i);
                    model.push((tick.max(now + 1), i));
                }
                Operation::Cancel(i) => {
                    let pending = model.iter().any(|&(_, other)| other == i);
                    prop_assert_eq!(wheel.cancel(&timers[i]), pending);
                    model.retain(|&(_, other)| other != i);
                }
                Operation::Advance(span) => {
                    target = target.max(wheel.tick() + span);
                    let (mut expired, _) = turn(&wheel, target);
                    let mut due: Vec<_> =
                        model.iter().copied().filter(|&(tick, _)| tick <= target).collect();
                    model.retain(|&(tick, _)| tick > target);
                    due.sort_unstable();
                    prop_assert!(expired.is_sorted_by_key(|&(tick, _)| tick));
                    expired.sort_unstable();
                    // Each at its own tick, though several passed, unless a step preceded.
                    prop_assert_eq!(expired, due);
                }
                // A step outside the handler, as when interrupts are unmasked.
                Operation::Step => {
                    target += 1;
                    if let Step::Expired(timer) = wheel.expire(target) {
                        let place = model.iter().position(|&(_, other)| other == timer.number);
                        let (tick, _) = model.remove(place.expect("pending"));
                        prop_assert_eq!(tick, wheel.tick());
                    }
                }
            }
            for (i, timer) in timers.iter().enumerate() {
                prop_assert_eq!(timer.state.is_pending(), model.iter().any(|&(_, other)| other == i));
            }
        }
    }

    #[test]
    fn a_timer_moves_once_per_level_at_most(ticks in prop::collection::vec(1..1u64 << 16, 1..200)) {
        let timers = timers(ticks.len());
        let wheel = TimingWheel::new();
        for (timer, &tick) in timers.iter().zip(&ticks) {
            wheel.start(timer, tick);
        }
        let (expired, moved) = turn(&wheel, 1 << 16);
        prop_assert_eq!(expired.len(), ticks.len());
        prop_assert!(moved <= ticks.len() * 3, "four digits");
    }
}

#[test]
fn ten_thousand_timers_expire_each_at_its_tick() {
    let timers = timers(10_000);
    let wheel = TimingWheel::new();
    for timer in &timers {
        wheel.start(timer, 1 + timer.number as u64 * 7_919 % 20_011);
    }
    for timer in timers.iter().filter(|timer| timer.number % 3 == 0) {
        assert!(wheel.cancel(timer));
    }
    let (expired, _) = turn(&wheel, 20_011);
    assert_eq!(expired.len(), 6_666);
    assert!(
        expired
            .iter()
            .all(|&(tick, number)| tick == 1 + number as u64 * 7_919 % 20_011)
    );
}

#[test]
fn each_tick_needs_an_interrupt() {
    let timers = timers(1);
    let wheel = TimingWheel::new();
    wheel.begin(41);
    assert_eq!(wheel.alarm(), 42);
    TimerQueue::start(&wheel, &timers[0], 100);
    assert_eq!(wheel.alarm(), 42, "even if no timer is due then");
    let _ = turn(&wheel, 60);
    assert_eq!(wheel.alarm(), 61);
    wheel.begin(u64::MAX);
    assert_eq!(wheel.alarm(), u64::MAX);
}

#[test]
fn a_wheel_has_sixteen_slots_for_each_digit_of_a_tick() {
    let slots = size_of::<TimingWheel<&Timer<'_>>>() - 2 * size_of::<u64>();
    assert_eq!(slots, 16 * 16 * size_of::<List<&Timer<'_>>>());
}
