//! Several periodic tasks in one virtual machine.
//!
//! Each task of `system.toml` is a thread with a rate-monotonic priority (Liu and Layland, 1973). Its
//! body, in place of a controller, is a [`Loop`] that halves its control error at each release.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core_guest::{TASKS, Task as Described};
use tenon::periodic::Task;
use tenon::thread::{Priority, Storage};
use tenon::time::Duration;
use tenon::{environment, log};

static STORAGE: [Storage<4096>; TASKS] = [const { Storage::new() }; TASKS];

/// Control loop of one value.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    value: u32,
    target: u32,
}

impl Loop {
    /// A loop with its initial error.
    #[must_use]
    pub const fn towards(target: u32) -> Self {
        Self { value: 0, target }
    }

    /// One step, which halves the control error. Returns whether the error is zero.
    pub const fn step(&mut self) -> bool {
        self.value += (self.target - self.value).div_ceil(2);
        self.value == self.target
    }
}

/// Number of tasks with a higher priority than the one at `index`; equal periods rank in their order.
#[must_use]
pub fn rank(periods: &[u64], index: usize) -> usize {
    let own = periods.get(index);
    let before = |&(at, period): &(usize, &u64)| {
        own.is_some_and(|own| (period, at) < (own, index)) && at != index
    };
    periods.iter().enumerate().filter(before).count()
}

/// Main thread: starts a thread for each task.
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
        // There are at most eight tasks, so each has a distinct priority.
        let priority = Priority::HIGHEST.offset(-1 - rank(periods, index) as i8);
        if let Err(error) = storage.spawn(task.name(), priority, move || serve(task)) {
            return log::error!("no thread for {}: {error}", task.name());
        }
    }
}

/// Thread of a task.
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
