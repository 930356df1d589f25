//! Sampler application with a fixed rate.
//!
//! The periodic task `sample` applies a step of the challenge at each release. After [`RELEASES`]
//! releases it prints the answer and continues.

#![no_std]
#![forbid(unsafe_code)]

use support_challenge::{answer, asked, step};
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;

/// Default period of samples.
const PERIOD: Duration = Duration::from_millis(1);

/// Releases until the answer.
const RELEASES: u64 = 100;

/// Main thread: asks for the number and becomes the task.
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
