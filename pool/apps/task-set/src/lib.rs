//! Several periodic tasks in one virtual machine.
//!
//! Its system says which: each task of its description is a thread here, and the shorter its period
//! the more urgent it is (rate-monotonic: Liu and Layland, 1973). What a task does stands in for a
//! controller: at each release a [`Loop`] comes half as near to its set point.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core_guest::{TASKS, Task as Described};
use tenon::periodic::Task;
use tenon::thread::{Priority, Storage};
use tenon::time::Duration;
use tenon::{environment, log};

static STORAGE: [Storage<4096>; TASKS] = [const { Storage::new() }; TASKS];

/// A value that a task holds.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    value: u32,
    target: u32,
}

impl Loop {
    /// One that holds nothing yet.
    #[must_use]
    pub const fn towards(target: u32) -> Self {
        Self { value: 0, target }
    }

    /// One step: half of what is lacking is made up for. Whether nothing is lacking any more.
    pub const fn step(&mut self) -> bool {
        self.value += (self.target - self.value).div_ceil(2);
        self.value == self.target
    }
}

/// How many of the tasks are more urgent than the one at `index`: of equal periods, those named before.
#[must_use]
pub fn rank(periods: &[u64], index: usize) -> usize {
    let own = periods.get(index);
    let before = |&(at, period): &(usize, &u64)| {
        own.is_some_and(|own| (period, at) < (own, index)) && at != index
    };
    periods.iter().enumerate().filter(before).count()
}

/// The main thread: starts a thread for each task.
pub fn main() {
    let tasks = environment::guest().map_or(&[][..], |guest| guest.tasks());
    if tasks.is_empty() {
        return log::error!("its system names no task");
    }
    let mut periods = [0; TASKS];
    for (period, task) in periods.iter_mut().zip(tasks) {
        *period = task.period_ns;
    }
    let periods = periods.get(..tasks.len()).unwrap_or(&[]);
    for (index, (task, storage)) in tasks.iter().zip(&STORAGE).enumerate() {
        // As there are at most eight, each has a priority of its own.
        let priority = Priority::HIGHEST.offset(-1 - rank(periods, index) as i8);
        if let Err(error) = storage.spawn(task.name(), priority, move || serve(task)) {
            return log::error!("no thread for {}: {error}", task.name());
        }
    }
}

/// The thread of a task.
fn serve(task: &'static Described) {
    let mut value = Loop::towards(1_000);
    let mut said = false;
    Task::new(task.name(), Duration::from_nanos(task.period_ns)).run(|_| {
        if value.step() && !said {
            said = true;
            log::info!("{} holds its value", task.name());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{Loop, rank};

    #[test]
    fn a_loop_holds_its_value_soon_and_for_good() {
        let mut value = Loop::towards(1_000);
        let held = (0..40).map(|_| value.step()).collect::<Vec<_>>();
        let first = held.iter().position(|&held| held).unwrap();
        assert!(first < 16);
        assert!(held[first..].iter().all(|&held| held));
    }

    #[test]
    fn the_shorter_its_period_the_more_urgent_a_task_is() {
        let periods = [10, 1, 5, 1];
        let ranks = [0, 1, 2, 3].map(|index| rank(&periods, index));
        assert_eq!(ranks, [3, 0, 2, 1]);
    }
}
