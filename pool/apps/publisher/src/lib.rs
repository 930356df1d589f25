//! Sampler with a fixed rate that sends its values to another virtual machine.
//!
//! The periodic task `sample` applies a step of the challenge at each of the first [`RELEASES`]
//! releases, then prints the answer. At each release it sends the value as a line on channel `values`.

#![no_std]
#![forbid(unsafe_code)]

use core::fmt::Write;
use core_log::Line;
use support_challenge::{answer, asked, step};
use tenon::log;
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;
use tenon_channel::{Error, Sender};

/// Default period of samples.
const PERIOD: Duration = Duration::from_millis(1);

/// Releases until the answer.
const RELEASES: u64 = 100;

/// Maximum size of a line in bytes.
const LINE: usize = 16;

/// Main thread: asks for the number and becomes the task.
pub fn main() {
    let mut values = match Sender::open("values") {
        Ok(values) => values,
        Err(error) => return log::error!("no values: {error}"),
    };
    let Some(mut number) = asked() else { return };
    tenon::thread::current().set_priority(Priority::HIGHEST);
    Task::new("sample", PERIOD).run(|release| {
        if release.sequence < RELEASES {
            number = step(number);
        }
        send(&mut values, number);
        if release.sequence + 1 == RELEASES {
            answer(number);
        }
    });
}

/// Sends a value without blocking; it is dropped if the channel is full.
fn send(values: &mut Sender, number: u32) {
    let mut line = Line::<LINE>::new();
    // Writing to a `Line` never fails.
    let _ = writeln!(line, "{number}");
    match values.try_send(line.as_str().as_bytes()) {
        Ok(()) | Err(Error::Full | Error::PeerGone) => {}
        Err(error) => log::error!("no value: {error}"),
    }
}
