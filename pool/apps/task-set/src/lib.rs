//! Periodic tasks in one virtual machine, as its system names them.
//!
//! Each task of `system.toml` is a thread with a rate-monotonic priority (Liu and Layland, 1973). Its
//! body, in place of a controller, is a [`Loop`] that halves its control error at each release.
//!
//! The libraries of the image decide what the tasks do beside that, so that an application of one's
//! own can begin with this one:
//!
//! | library | feature | use |
//! |---|---|---|
//! | `tenon/gpio` | `gpio` | the first task drives a pin, high in every second period |
//! | `tenon/channel` | `channel` | the first task exchanges its value with other VMs |
//! | `tenon/sync` | `sync` | a table of all values under a mutex; a semaphore counts the tasks that hold theirs |
//! | `tenon/queue` | `queue` | a task that holds its value reports it in a message |

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod link;
mod pin;
mod report;
mod table;

use core_guest::{TASKS, Task as Described};
use link::Links;
use pin::Pin;
use tenon::periodic::Task;
use tenon::thread::{Priority, Storage};
use tenon::time::Duration;
use tenon::{environment, log};

/// The value that each task holds, unless another VM sends one.
const TARGET: u32 = 1_000;

/// Size of a task's stack in bytes; the ends of channels are on it.
const STACK: usize = if cfg!(feature = "channel") {
    8192
} else {
    4096
};

static STORAGE: [Storage<STACK>; TASKS] = [const { Storage::new() }; TASKS];

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
        let error = self.target.abs_diff(self.value).div_ceil(2);
        if self.value < self.target {
            self.value += error;
        } else {
            self.value -= error;
        }
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
        if let Err(error) = storage.spawn(task.name(), priority, move || serve(task, index)) {
            return log::error!("no thread for {}: {error}", task.name());
        }
    }
    report::await_each(tasks);
    table::await_all(tasks.len());
}

/// Thread of a task.
fn serve(task: &'static Described, index: usize) {
    let mut value = Loop::towards(TARGET);
    let mut said = false;
    // A device and the ends of a channel have one owner: the first task.
    let (mut pin, mut links) = if index == 0 {
        (Pin::take(), Links::open())
    } else {
        (Pin::none(), Links::none())
    };
    Task::new(task.name(), Duration::from_nanos(task.period_ns)).run(|_| {
        let holds = value.step();
        pin.toggle();
        table::set(index, value.value);
        if let Some(target) = links.exchange(value.value) {
            value.target = target;
        }
        if holds && !said {
            said = true;
            report::holds(task, index);
            table::count();
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
    fn a_loop_follows_a_lower_target() {
        let mut value = Loop::towards(1_000);
        assert!((0..40).any(|_| value.step()));
        value.target = 10;
        assert!((0..40).any(|_| value.step()));
        assert_eq!(value.value, 10);
    }

    #[test]
    fn the_shorter_its_period_the_more_urgent_a_task_is() {
        let periods = [10, 1, 5, 1];
        let ranks = [0, 1, 2, 3].map(|index| rank(&periods, index));
        assert_eq!(ranks, [3, 0, 2, 1]);
    }
}
