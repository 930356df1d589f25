//! All schedulers by their common interface: fixed priorities lead to the same decisions.

extern crate std;

use crate::{
    FixedPriorityScheduler, HasSchedEntity, HasServer, Policy, Priority, ReservationScheduler,
    SchedEntity, Schedulable, Scheduler, Server, State,
};
use core_list::{Link, Linked};
use proptest::prelude::*;
use std::vec::Vec;

/// A thread and a vCPU at once.
struct Task<'a> {
    number: usize,
    link: Link<&'a Task<'a>>,
    state: State,
    entity: SchedEntity<&'a Task<'a>>,
}

impl<'a> Linked for &'a Task<'a> {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl<'a> Schedulable for &'a Task<'a> {
    fn state(&self) -> &State {
        &self.state
    }
}

impl<'a> HasServer for &'a Task<'a> {
    fn server(&self) -> &Server<Self> {
        &self.entity.server
    }
}

impl<'a> HasSchedEntity for &'a Task<'a> {
    fn entity(&self) -> &SchedEntity<Self> {
        &self.entity
    }
}

fn tasks<'a>(priorities: &[u8]) -> Vec<Task<'a>> {
    let task = |(number, &priority): (usize, &u8)| {
        let task = Task {
            number,
            link: Link::new(),
            state: State::new(Priority::new(priority)),
            entity: SchedEntity::new(),
        };
        task.entity.begin(Priority::new(priority), Policy::Fixed, 0);
        task
    };
    priorities.iter().enumerate().map(task).collect()
}

/// The running task after each event. Task 0 is always ready.
fn history<'a, S: Scheduler<Entity = &'a Task<'a>>>(
    scheduler: &S,
    tasks: &'a [Task<'a>],
    events: &[(usize, bool)],
) -> Vec<usize> {
    scheduler.wake(&tasks[0], 0);
    let decide = |(now, &(number, wake)): (usize, &(usize, bool))| {
        let (task, now) = (&tasks[number], now as u64);
        match wake {
            true => scheduler.wake(task, now),
            false => scheduler.block(task, now),
        }
        let decision = scheduler.decide(now);
        assert_eq!(decision.until, None, "no decision is due by time");
        decision.run.expect("a task is always ready").number
    };
    events.iter().enumerate().map(decide).collect()
}

proptest! {
    #[test]
    fn fixed_priorities_lead_to_the_same_decisions(
        priorities in prop::collection::vec(1u8..4, 5),
        events in prop::collection::vec((1usize..6, any::<bool>()), 0..100),
    ) {
        let priorities: Vec<u8> = [0].into_iter().chain(priorities).collect();
        let (threads, vcpus) = (tasks(&priorities), tasks(&priorities));
        let fixed = FixedPriorityScheduler::new();
        fixed.start(&threads[0]);
        let reserved = ReservationScheduler::new();
        reserved.set_slice(1);
        prop_assert_eq!(
            history(&fixed, &threads, &events),
            history(&reserved, &vcpus, &events)
        );
    }
}
