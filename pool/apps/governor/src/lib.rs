//! Speed loop that receives set points from another virtual machine and reports.
//!
//! A line with a number on channel `setpoints` is the first of [`POINTS`] set points; the step function
//! of the challenge maps each reached speed to the next one. The final value is sent on channel
//! `reports`. Both channels are optional: the set point is zero without the first, and nothing is
//! reported without the second.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core::fmt::Write;
use core_log::Line;
use support_challenge::step;
use tenon::log;
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;
use tenon_channel::{Error, Receiver, Sender};

/// Default period of the loop.
const PERIOD: Duration = Duration::from_millis(1);

/// Set points of a sequence.
const POINTS: u32 = 5;

/// Maximum size of a line in bytes.
const LINE: usize = 64;

/// The loop and its current sequence of set points.
#[derive(Clone, Copy, Debug, Default)]
pub struct Governor {
    speed: u32,
    target: u32,
    left: u32,
}

impl Governor {
    /// Starts a sequence with a set point.
    pub const fn begin(&mut self, target: u32) {
        self.target = target;
        self.left = POINTS;
    }

    /// One step of the loop, which halves the control error. Returns the final value at the end of the
    /// sequence.
    pub const fn step(&mut self) -> Option<u32> {
        let lacking = self.target.abs_diff(self.speed).div_ceil(2);
        if self.speed < self.target {
            self.speed += lacking;
        } else {
            self.speed -= lacking;
        }
        if self.speed != self.target || self.left == 0 {
            return None;
        }
        self.left -= 1;
        self.target = step(self.speed);
        if self.left == 0 {
            Some(self.target)
        } else {
            None
        }
    }
}

/// Main thread: becomes the task.
pub fn main() {
    tenon::thread::current().set_priority(Priority::HIGHEST);
    let mut setpoints = ours("setpoints", Receiver::open("setpoints"));
    let mut reports = ours("reports", Sender::open("reports"));
    let mut governor = Governor::default();
    log::info!("control loop starts");
    Task::new("control", PERIOD).run(|_| {
        if let Some(target) = setpoints.as_mut().and_then(told) {
            governor.begin(target);
        }
        if let (Some(reached), Some(reports)) = (governor.step(), &mut reports) {
            report(reports, reached);
        }
    });
}

/// An end of a channel, if the system has that channel.
fn ours<End>(name: &str, end: Result<End, Error>) -> Option<End> {
    end.inspect_err(|error| log::info!("no {name}: {error}"))
        .ok()
}

/// The set point of a received line, if any; text that is not a number is ignored.
fn told(setpoints: &mut Receiver) -> Option<u32> {
    let mut line = [0; LINE];
    let length = setpoints.try_read(&mut line).ok()?;
    str::from_utf8(line.get(..length)?)
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Reports the final value without blocking; it is dropped if the channel is full.
fn report(reports: &mut Sender, reached: u32) {
    let mut line = Line::<LINE>::new();
    // Writing to a `Line` never fails.
    let _ = writeln!(line, "the answer is {reached}");
    match reports.try_send(line.as_str().as_bytes()) {
        Ok(()) | Err(Error::Full | Error::PeerGone) => {}
        Err(error) => log::error!("no report: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Governor, POINTS};
    use support_challenge::step;

    #[test]
    fn a_course_ends_with_what_its_steps_make_of_its_first_set_point() {
        for first in [0, 1, 4711, u32::MAX] {
            let mut governor = Governor::default();
            governor.begin(first);
            let reached = (0..40 * POINTS).find_map(|_| governor.step());
            assert_eq!(reached, Some((0..POINTS).fold(first, |n, _| step(n))));
        }
    }

    #[test]
    fn nothing_is_reached_that_nobody_asked_for() {
        let mut governor = Governor::default();
        assert!((0..100).all(|_| governor.step().is_none()));
    }
}
