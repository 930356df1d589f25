//! A sampler with a fixed rate, whose values another virtual machine reads.
//!
//! Its periodic task `sample` takes a number on at each of the first [`RELEASES`] releases, says then
//! what came of it, and at each release sends what it is as a line in channel `values`.

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

/// From one value to the next, unless its system says otherwise.
const PERIOD: Duration = Duration::from_millis(1);

/// Releases of which the answer is made.
const RELEASES: u64 = 100;

/// Bytes of a line.
const LINE: usize = 16;

/// The main thread: asks, and becomes the task.
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

/// Sends a value; a release waits for nobody who reads.
fn send(values: &mut Sender, number: u32) {
    let mut line = Line::<LINE>::new();
    // A `Line` takes whatever it is given.
    let _ = writeln!(line, "{number}");
    match values.try_send(line.as_str().as_bytes()) {
        Ok(()) | Err(Error::Full | Error::PeerGone) => {}
        Err(error) => log::error!("no value: {error}"),
    }
}
