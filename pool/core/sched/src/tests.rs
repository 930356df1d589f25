//! The scheduler against a naive model: a vector searched from the front.

extern crate std;

use crate::{Priority, Schedulable, Scheduler, State};
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
    Next(bool),
}

/// The ready ones in order of arrival, each with its priority.
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
            } else {
                let top = self.priorities[self.highest()?];
                if top <= self.priorities[previous] || self.locked[previous] {
                    return None;
                }
            }
        }
        let next = self.highest()?;
        self.current = next;
        (next != previous).then_some(next)
    }
}

fn operation(threads: usize) -> impl Strategy<Value = Operation> {
    // Few priorities, so that levels fill up; the extremes among them.
    let priority = prop::sample::select(std::vec![0u8, 1, 31, 62, 63]);
    prop_oneof![
        3 => (0..threads).prop_map(Operation::Wake),
        2 => (0..threads).prop_map(Operation::Block),
        1 => (0..threads, priority).prop_map(|(i, p)| Operation::SetPriority(i, p)),
        1 => Just(Operation::Lock),
        1 => Just(Operation::Unlock),
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
        let scheduler = Scheduler::new(true);
        let mut model = Model { priorities, ..Model::default() };
        scheduler.start(&threads[0]);
        model.wake(0);
        for operation in operations {
            match operation {
                Operation::Wake(i) => {
                    scheduler.wake(&threads[i]);
                    model.wake(i);
                }
                // Somebody is always ready: the idle thread never blocks.
                Operation::Block(i) if model.ready.iter().all(|&(other, _)| other == i) => {}
                Operation::Block(i) => {
                    scheduler.block(&threads[i]);
                    model.block(i);
                    if i == model.current {
                        let next = scheduler.next(false).map(|thread| thread.number);
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
                Operation::Next(yielding) => {
                    let next = if yielding { scheduler.give_way() } else { scheduler.next(false) };
                    let next = next.map(|thread| thread.number);
                    prop_assert_eq!(next, model.next(yielding));
                }
            }
            if model.is_ready(model.current) {
                prop_assert_eq!(scheduler.current().map(|t| t.number), Some(model.current));
            }
        }
    }
}

#[test]
fn peers_take_turns_in_order() {
    let threads: Vec<Thread> = (0..4).map(|number| Thread::new(number, 9)).collect();
    let scheduler = Scheduler::new(true);
    scheduler.start(&threads[0]);
    threads[1..]
        .iter()
        .for_each(|thread| scheduler.wake(thread));
    assert!(!scheduler.is_needed(), "an equal does not preempt");
    let order: Vec<_> = (0..8)
        .filter_map(|_| scheduler.next(true))
        .map(|thread| thread.number)
        .collect();
    assert_eq!(order, [1, 2, 3, 0, 1, 2, 3, 0]);
}

#[test]
fn a_preempted_one_keeps_its_turn() {
    let (low, peer, high) = (Thread::new(0, 5), Thread::new(1, 5), Thread::new(2, 6));
    let scheduler = Scheduler::new(true);
    scheduler.start(&low);
    scheduler.wake(&peer);
    scheduler.wake(&high);
    assert!(scheduler.next(false).is_some_and(|next| next.is(&&high)));
    scheduler.block(&high);
    assert!(scheduler.next(false).is_some_and(|next| next.is(&&low)));
}

#[test]
fn without_preemption_only_yielding_gives_way() {
    let (low, high) = (Thread::new(0, 5), Thread::new(1, 6));
    let scheduler = Scheduler::new(false);
    scheduler.start(&low);
    scheduler.wake(&high);
    assert!(scheduler.next(false).is_none());
    assert!(scheduler.next(true).is_some_and(|next| next.is(&&high)));
}

#[test]
fn priorities_beyond_the_range_are_the_highest() {
    assert_eq!(Priority::new(200), Priority::HIGHEST);
    assert_eq!(Priority::new(63).number(), 63);
}
