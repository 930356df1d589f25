//! All timer queues by their common interface, against one model: each timer expires at its
//! deadline.

use crate::test_timer::timers;
use crate::{DeadlineTable, RadixHeap, SortedTimerList, Step, TimerQueue, TimingWheel};
use proptest::prelude::*;

const TIMERS: usize = 6;

/// An event: the time since the last one, the timer, and its span or none to cancel it.
type Event = (u64, usize, Option<u64>);

/// Runs a queue and the model until all timers expired or were cancelled. `name` and `number` convert
/// between a timer and its number.
fn check<Q: TimerQueue>(
    queue: &Q,
    events: &[Event],
    name: impl Fn(usize) -> Q::Timer,
    number: impl Fn(Q::Timer) -> usize,
) -> Result<(), TestCaseError> {
    let mut model = [None::<u64>; TIMERS];
    let mut events = events.iter().scan(0, |time, &(delta, timer, span)| {
        *time += delta;
        Some((*time, timer, span))
    });
    let mut next = events.next();
    for now in 0..400 {
        while let Step::Expired(_) | Step::Moved = {
            let step = queue.expire(now);
            if let Step::Expired(timer) = step {
                prop_assert_eq!(model[number(timer)].take(), Some(now), "at its deadline");
            }
            step
        } {}
        prop_assert!(
            model.iter().flatten().all(|&deadline| deadline > now),
            "never late"
        );
        while let Some((_, timer, span)) = next.filter(|&(time, ..)| time <= now) {
            match span {
                Some(span) => {
                    model[timer] = Some(now + span);
                    if let Some(alarm) = queue.start(name(timer), now + span) {
                        prop_assert_eq!((alarm, alarm), (now + span, queue.alarm()));
                    }
                }
                None => {
                    prop_assert_eq!(queue.cancel(name(timer)), model[timer].take().is_some());
                }
            }
            next = events.next();
        }
        let earliest = model.iter().flatten().min();
        prop_assert!(earliest.is_none_or(|&earliest| queue.alarm() <= earliest));
    }
    Ok(())
}

proptest! {
    #[test]
    fn each_timer_expires_at_its_deadline(
        events in prop::collection::vec((0..8u64, 0..TIMERS, prop::option::weighted(0.8, 1..60u64)), 0..50),
    ) {
        let (heap, list, wheel) = (RadixHeap::new(), SortedTimerList::new(), TimingWheel::new());
        let (of_heap, of_list, of_wheel) = (timers(TIMERS), timers(TIMERS), timers(TIMERS));
        check(&heap, &events, |number| &of_heap[number], |timer| timer.number)?;
        check(&list, &events, |number| &of_list[number], |timer| timer.number)?;
        check(&wheel, &events, |number| &of_wheel[number], |timer| timer.number)?;
        check(&DeadlineTable::<TIMERS>::new(), &events, |index| index, |index| index)?;
    }
}
