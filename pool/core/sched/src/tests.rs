//! The fixed-priority scheduler against a naive model: a vector searched from the front.

extern crate std;

use crate::{FixedPriorityScheduler, Priority, Reason, Schedulable, State};
use core_list::{Link, Linked};
use proptest::prelude::*;
use std::vec::Vec;

struct Thread<'a> {
    number: usize,
    link: Link<&'a Thread<'a>>,
    state: State,
}

impl Thread<'_> {
    fn new(number: usize, priority: u8) -> Self {
        Self {
            number,
            link: Link::new(),
            state: State::new(Priority::new(priority)),
        }
    }
}

impl<'a> Linked for &'a Thread<'a> {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl<'a> Schedulable for &'a Thread<'a> {
    fn state(&self) -> &State {
        &self.state
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Wake(usize),
    Block(usize),
    SetPriority(usize, u8),
    Lock,
    Unlock,
    EndTurn,
    Next(bool),
}

/// The ready entities in order of arrival, each with its priority.
#[derive(Default)]
struct Model {
    ready: Vec<(usize, u8)>,
    current: usize,
    priorities: Vec<u8>,
    locked: [bool; 6],
}

impl Model {
    fn is_ready(&self, number: usize) -> bool {
        self.ready.iter().any(|&(other, _)| other == number)
    }

    fn wake(&mut self, number: usize) {
        if !self.is_ready(number) {
            self.ready.push((number, self.priorities[number]));
        }
    }

    fn block(&mut self, number: usize) {
        self.ready.retain(|&(other, _)| other != number);
    }

    fn highest(&self) -> Option<usize> {
        let top = self.ready.iter().map(|&(_, priority)| priority).max()?;
        let first = self.ready.iter().find(|&&(_, priority)| priority == top)?;
        Some(first.0)
    }

    fn next(&mut self, yielding: bool) -> Option<usize> {
        let previous = self.current;
        if self.is_ready(previous) {
            if yielding {
                self.block(previous);
                self.wake(previous);
            } else if self.highest() == Some(previous) || self.locked[previous] {
                return None;
            }
        }
        let next = self.highest()?;
        self.current = next;
        (next != previous).then_some(next)
    }
}

fn operation(threads: usize) -> impl Strategy<Value = Operation> {
    // Few priorities, so that levels have several entities; the extremes are included.
    let priority = prop::sample::select(std::vec![0u8, 1, 31, 62, 63]);
    prop_oneof![
        3 => (0..threads).prop_map(Operation::Wake),
        2 => (0..threads).prop_map(Operation::Block),
        1 => (0..threads, priority).prop_map(|(i, p)| Operation::SetPriority(i, p)),
        1 => Just(Operation::Lock),
        1 => Just(Operation::Unlock),
        2 => Just(Operation::EndTurn),
        4 => any::<bool>().prop_map(Operation::Next),
    ]
}

proptest! {
    #[test]
    fn decides_like_the_model(
        priorities in prop::collection::vec(prop::sample::select(std::vec![0u8, 1, 31, 63]), 6),
        operations in prop::collection::vec(operation(6), 0..200),
    ) {
        let threads: Vec<Thread> =
            priorities.iter().enumerate().map(|(i, &p)| Thread::new(i, p)).collect();
        let scheduler = FixedPriorityScheduler::new();
        let mut model = Model { priorities, ..Model::default() };
        scheduler.start(&threads[0]);
        model.wake(0);
        for operation in operations {
            match operation {
                Operation::Wake(i) => {
                    scheduler.wake(&threads[i]);
                    model.wake(i);
                }
                // An entity is always ready: the idle thread never blocks.
                Operation::Block(i) if model.ready.iter().all(|&(other, _)| other == i) => {}
                Operation::Block(i) => {
                    scheduler.block(&threads[i]);
                    model.block(i);
                    if i == model.current {
                        let next = scheduler.next(Reason::Blocking).map(|thread| thread.number);
                        prop_assert_eq!(next, model.next(false));
                    }
                }
                Operation::SetPriority(i, priority) => {
                    scheduler.set_priority(&threads[i], Priority::new(priority));
                    model.priorities[i] = priority;
                    if model.is_ready(i) {
                        model.block(i);
                        let place = if i == model.current { 0 } else { model.ready.len() };
                        model.ready.insert(place, (i, priority));
                    }
                }
                Operation::Lock => {
                    threads[model.current].state.lock();
                    model.locked[model.current] = true;
                }
                Operation::Unlock => {
                    while threads[model.current].state.is_locked() {
                        threads[model.current].state.unlock();
                    }
                    model.locked[model.current] = false;
                }
                Operation::EndTurn => {
                    scheduler.end_slice();
                    if model.is_ready(model.current) {
                        model.block(model.current);
                        model.wake(model.current);
                    }
                }
                Operation::Next(yielding) => {
                    let next = if yielding {
                        scheduler.yield_current()
                    } else {
                        scheduler.next(Reason::Preemption)
                    };
                    let next = next.map(|thread| thread.number);
                    prop_assert_eq!(next, model.next(yielding));
                }
            }
            prop_assert_eq!(scheduler.needs_reschedule(), model.highest() != Some(model.current));
            let own = model.priorities[model.current];
            let peers = model.ready.iter().filter(|&&(_, priority)| priority == own);
            prop_assert_eq!(scheduler.has_peers(), peers.count() > 1);
            if model.is_ready(model.current) {
                prop_assert_eq!(scheduler.current().map(|t| t.number), Some(model.current));
            }
        }
    }
}

#[test]
fn peers_run_in_order() {
    let threads: Vec<Thread> = (0..4).map(|number| Thread::new(number, 9)).collect();
    let scheduler = FixedPriorityScheduler::new();
    scheduler.start(&threads[0]);
    threads[1..]
        .iter()
        .for_each(|thread| scheduler.wake(thread));
    assert!(!scheduler.needs_reschedule(), "an equal does not preempt");
    let order: Vec<_> = (0..8)
        .filter_map(|_| scheduler.next(Reason::Yielding))
        .map(|thread| thread.number)
        .collect();
    assert_eq!(order, [1, 2, 3, 0, 1, 2, 3, 0]);
}

#[test]
fn a_preempted_entity_keeps_its_place() {
    let (low, peer, high) = (Thread::new(0, 5), Thread::new(1, 5), Thread::new(2, 6));
    let scheduler = FixedPriorityScheduler::new();
    scheduler.start(&low);
    scheduler.wake(&peer);
    scheduler.wake(&high);
    let next = scheduler.next(Reason::Preemption);
    assert!(next.is_some_and(|next| next.is(&&high)));
    scheduler.block(&high);
    let next = scheduler.next(Reason::Blocking);
    assert!(next.is_some_and(|next| next.is(&&low)));
}

#[test]
fn a_locked_entity_switches_only_on_yield() {
    let (low, high) = (Thread::new(0, 5), Thread::new(1, 6));
    let scheduler = FixedPriorityScheduler::new();
    low.state.lock();
    scheduler.start(&low);
    scheduler.wake(&high);
    assert!(scheduler.next(Reason::Preemption).is_none());
    let next = scheduler.next(Reason::Yielding);
    assert!(next.is_some_and(|next| next.is(&&high)));
}

#[test]
fn a_blocked_candidate_does_not_preempt() {
    let (low, middle, high) = (Thread::new(0, 5), Thread::new(1, 6), Thread::new(2, 7));
    let scheduler = FixedPriorityScheduler::new();
    scheduler.start(&low);
    scheduler.wake(&middle);
    scheduler.wake(&high);
    scheduler.block(&high);
    let next = scheduler.next(Reason::Preemption);
    assert!(next.is_some_and(|next| next.is(&&middle)));
    scheduler.wake(&high);
    scheduler.block(&high);
    assert!(!scheduler.needs_reschedule());
}

#[test]
fn priorities_beyond_the_range_are_the_highest() {
    assert_eq!(Priority::new(200), Priority::HIGHEST);
    assert_eq!(Priority::new(63).number(), 63);
}
