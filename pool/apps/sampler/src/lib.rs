//! A sampler with a fixed rate.
//!
//! Its periodic task `sample` takes a number on at each release. After [`RELEASES`] of them it says
//! what came of it, and goes on.

#![no_std]
#![forbid(unsafe_code)]

use support_challenge::{answer, asked, step};
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;

/// From one sample to the next, unless its system says otherwise.
const PERIOD: Duration = Duration::from_millis(1);

/// Releases of which the answer is made.
const RELEASES: u64 = 100;

/// The main thread: asks, and becomes the task.
pub fn main() {
    let Some(mut number) = asked() else { return };
    tenon::thread::current().set_priority(Priority::HIGHEST);
    let mut released = 0;
    Task::new("sample", PERIOD).run(|_| {
        if released < RELEASES {
            number = step(number);
            released += 1;
            if released == RELEASES {
                answer(number);
            }
        }
    });
}
