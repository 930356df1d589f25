//! Tests of mutexes against a model that computes every priority from scratch.

extern crate std;

use crate::{Acquired, MutexError, Protocol, RawMutex, Robustness};
use core_list::Linked;
use core_sched::Priority;
use proptest::prelude::*;
use std::vec::Vec;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::testing::{self, leak, thread};
use tenon_kernel::thread::{Thread, Wait};

const THREADS: usize = 6;
const MUTEXES: usize = 4;

#[derive(Clone, Debug)]
enum Operation {
    /// By the current thread.
    Lock(usize),
    Unlock(usize),
    /// Of any thread.
    SetPriority(usize, u8),
    TimeOut(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (0..MUTEXES).prop_map(Operation::Lock),
        4 => (0..MUTEXES).prop_map(Operation::Unlock),
        3 => (0..THREADS, 1..9u8).prop_map(|(thread, priority)| Operation::SetPriority(thread, priority)),
        1 => (0..THREADS).prop_map(Operation::TimeOut),
    ]
}

/// Base priorities, owners and waiters, without derived state.
struct Model {
    own: [u8; THREADS],
    owner: [Option<usize>; MUTEXES],
    waits_for: [Option<usize>; THREADS],
}

impl Model {
    fn effective(&self) -> [u8; THREADS] {
        let mut effective = self.own;
        loop {
            let before = effective;
            for thread in 0..THREADS {
                let owner = self.waits_for[thread].and_then(|mutex| self.owner[mutex]);
                if let Some(owner) = owner {
                    effective[owner] = effective[owner].max(effective[thread]);
                }
            }
            if effective == before {
                return effective;
            }
        }
    }

    /// Mutexes are locked in order, so that no cycle of waiters arises.
    fn may_lock(&self, thread: usize, mutex: usize) -> bool {
        self.owner[mutex..]
            .iter()
            .all(|owner| *owner != Some(thread))
    }
}

/// The end of a masked section.
fn preempt(kernel: &Kernel) {
    if kernel.scheduler.needs_reschedule() {
        testing::preempt(kernel);
    }
}

fn index(threads: &[&'static Thread], thread: &'static Thread) -> Option<usize> {
    threads.iter().position(|other| other.is(&thread))
}

proptest! {
    #[test]
    fn owners_run_by_what_the_model_says(
        own in prop::array::uniform6(1..9u8),
        operations in prop::collection::vec(operation(), 0..80),
    ) {
        let (kernel, _) = testing::kernel(true);
        let threads: Vec<_> = own.map(|number| thread(kernel, Priority::new(number))).into();
        threads.iter().for_each(|thread| thread.wake(kernel));
        preempt(kernel);
        let mutexes: [&'static RawMutex; MUTEXES] = core::array::from_fn(|_| leak(RawMutex::new()));
        let mut model = Model { own, owner: [None; MUTEXES], waits_for: [None; THREADS] };
        for operation in operations {
            let current = index(&threads, kernel.current());
            match (operation, current) {
                (Operation::Lock(mutex), Some(thread)) if model.may_lock(thread, mutex) => {
                    let locked = mutexes[mutex].lock_in(kernel, None);
                    if model.owner[mutex].is_none() {
                        prop_assert_eq!(locked, Ok(Acquired::Consistent));
                        model.owner[mutex] = Some(thread);
                    } else {
                        model.waits_for[thread] = Some(mutex);
                    }
                }
                (Operation::Unlock(mutex), Some(thread)) => {
                    let effective = model.effective();
                    let unlocked = mutexes[mutex].unlock_in(kernel);
                    if model.owner[mutex] != Some(thread) {
                        prop_assert_eq!(unlocked, Err(MutexError::NotOwner));
                        continue;
                    }
                    prop_assert_eq!(unlocked, Ok(()));
                    let next = mutexes[mutex].0.owner(kernel).and_then(|next| index(&threads, next));
                    let waiting = (0..THREADS).filter(|&other| model.waits_for[other] == Some(mutex));
                    let most = waiting.map(|other| effective[other]).max();
                    prop_assert_eq!(next.map(|next| effective[next]), most);
                    model.owner[mutex] = next;
                    if let Some(next) = next {
                        prop_assert_eq!(model.waits_for[next].take(), Some(mutex));
                    }
                }
                (Operation::SetPriority(thread, priority), _) => {
                    model.own[thread] = priority;
                    threads[thread].set_base_priority(kernel, Priority::new(priority));
                }
                (Operation::TimeOut(thread), _) if model.waits_for[thread].is_some() => {
                    model.waits_for[thread] = None;
                    threads[thread].interrupt_wait(kernel);
                }
                _ => {}
            }
            preempt(kernel);
            let effective = model.effective();
            for (thread, expected) in threads.iter().zip(effective) {
                prop_assert_eq!(thread.effective_priority().number(), expected);
            }
            for (mutex, owner) in mutexes.iter().zip(model.owner) {
                let found = mutex.0.owner(kernel).and_then(|owner| index(&threads, owner));
                prop_assert_eq!(found, owner);
            }
            let ready = (0..THREADS).filter(|&thread| model.waits_for[thread].is_none());
            let most = ready.map(|thread| effective[thread]).max().unwrap_or(0);
            prop_assert_eq!(kernel.current().effective_priority().number(), most);
        }
    }
}

/// A kernel with the first of these threads as its current one.
fn running<const COUNT: usize>(
    priorities: [u8; COUNT],
) -> (&'static Kernel, [&'static Thread; COUNT]) {
    let (kernel, _) = testing::kernel(true);
    let threads = priorities.map(|number| thread(kernel, Priority::new(number)));
    threads[0].wake(kernel);
    preempt(kernel);
    (kernel, threads)
}

fn end(kernel: &Kernel) {
    let thread = kernel.current();
    thread.exit(kernel);
}

#[test]
fn a_ceiling_holds_from_the_lock_to_the_unlock() {
    let (kernel, [low]) = running([3]);
    let protocol = Protocol::Protect(Priority::new(7));
    let mutex = leak(RawMutex::with(protocol, Robustness::Stalled));
    assert_eq!(mutex.lock_in(kernel, None), Ok(Acquired::Consistent));
    assert_eq!(low.effective_priority(), Priority::new(7));
    assert_eq!(mutex.unlock_in(kernel), Ok(()));
    assert_eq!(low.effective_priority(), Priority::new(3));
    low.set_base_priority(kernel, Priority::new(8));
    assert_eq!(mutex.lock_in(kernel, None), Err(MutexError::AboveCeiling));
}

#[test]
fn without_a_protocol_nothing_is_lent() {
    let (kernel, [low, high]) = running([3, 8]);
    let mutex = leak(RawMutex::with(Protocol::None, Robustness::Stalled));
    assert_eq!(mutex.lock_in(kernel, None), Ok(Acquired::Consistent));
    high.wake(kernel);
    preempt(kernel);
    let _ = mutex.lock_in(kernel, None);
    assert!(kernel.current().is(&low));
    assert_eq!(low.effective_priority(), Priority::new(3));
}

#[test]
fn what_an_ended_owner_held_goes_on_once_it_is_consistent() {
    for waiting in [false, true] {
        let (kernel, [low, high]) = running([3, 8]);
        let mutex = leak(RawMutex::new());
        assert_eq!(mutex.lock_in(kernel, None), Ok(Acquired::Consistent));
        if waiting {
            high.wake(kernel);
            preempt(kernel);
            let _ = mutex.lock_in(kernel, None);
            assert!(kernel.current().is(&low));
        }
        end(kernel);
        if !waiting {
            high.wake(kernel);
            preempt(kernel);
            assert_eq!(mutex.lock_in(kernel, None), Ok(Acquired::OwnerDied));
        }
        assert!(mutex.0.owner(kernel).is_some_and(|owner| owner.is(&high)));
        let state = mutex.0.state(kernel);
        assert!(state.inconsistent.get());
        assert_eq!(mutex.unlock_in(kernel), Ok(()));
        assert_eq!(mutex.lock_in(kernel, None), Err(MutexError::Unrecoverable));
        assert_eq!(mutex.recover_in(kernel), Ok(()));
        assert_eq!(mutex.recover_in(kernel), Err(MutexError::AlreadyOwned));
        assert_eq!(mutex.unlock_in(kernel), Ok(()));
        assert_eq!(mutex.lock_in(kernel, None), Ok(Acquired::Consistent));
    }
}

#[test]
fn a_stalled_mutex_stays_its_ended_owners() {
    let (kernel, [_, high]) = running([3, 8]);
    let mutex = leak(RawMutex::with(Protocol::Inherit, Robustness::Stalled));
    assert_eq!(mutex.lock_in(kernel, None), Ok(Acquired::Consistent));
    end(kernel);
    high.wake(kernel);
    preempt(kernel);
    assert_eq!(mutex.acquire(kernel, high), None);
    let _ = mutex.lock_in(kernel, None);
    assert_eq!(high.wait_reason(), Wait::Queue);
}
