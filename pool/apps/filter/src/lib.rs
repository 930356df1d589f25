//! Low-pass filter in floating point that sends its output to another virtual machine.
//!
//! The input is constant until the output has settled. The settled value is sent on channel
//! `telemetry` as a line, and the step function of the challenge maps it to the next input. The answer
//! is sent there as well. Without that channel all output goes to the console.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core::fmt::{Arguments, Write};
use core_log::Line;
use support_challenge::{asked, step};
use tenon::log;
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;
use tenon_channel::{Error, Sender};

/// Default period of samples.
const PERIOD: Duration = Duration::from_millis(1);

/// Gain per sample: the fraction of the difference to the input that is added to the output.
const SHARE: f64 = 0.75;

/// Samples until the output is within 0.5 of any input: 2³² × ¼²⁰ < 0.5.
const SETTLED: u64 = 20;

/// Inputs until the answer.
const INPUTS: u64 = 5;

/// First-order low-pass filter.
#[derive(Clone, Copy, Debug, Default)]
pub struct LowPass {
    output: f64,
}

impl LowPass {
    /// Adds a sample of the input; returns the output.
    pub fn sample(&mut self, input: f64) -> f64 {
        self.output += (input - self.output) * SHARE;
        self.output
    }
}

/// Main thread: asks for the number and becomes the task.
pub fn main() {
    let mut telemetry = match Sender::open("telemetry") {
        Ok(telemetry) => Some(telemetry),
        Err(Error::Absent) => None,
        Err(error) => return log::error!("no telemetry: {error}"),
    };
    let Some(mut number) = asked() else { return };
    tenon::thread::current().set_priority(Priority::HIGHEST);
    let mut filter = LowPass::default();
    Task::new("filter", PERIOD).run(|release| {
        let output = filter.sample(f64::from(number));
        let samples = release.sequence + 1;
        if !samples.is_multiple_of(SETTLED) || samples > INPUTS * SETTLED {
            return;
        }
        let settled = nearest(output);
        tell(&mut telemetry, format_args!("settled on {settled}"));
        number = step(settled);
        if samples == INPUTS * SETTLED {
            tell(&mut telemetry, format_args!("the answer is {number}"));
        }
    });
}

/// The output rounded to the nearest integer.
fn nearest(output: f64) -> u32 {
    (output + 0.5) as u32
}

/// Sends a line without blocking; it is dropped if the channel is full.
fn tell(telemetry: &mut Option<Sender>, text: Arguments<'_>) {
    let Some(telemetry) = telemetry else {
        return log::info!("{text}");
    };
    let mut line = Line::<64>::new();
    // Writing to a `Line` never fails.
    let _ = writeln!(line, "{text}");
    match telemetry.try_send(line.as_str().as_bytes()) {
        Ok(()) | Err(Error::Full | Error::PeerGone) => {}
        Err(error) => log::error!("no telemetry: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{LowPass, SETTLED, nearest};

    #[test]
    fn the_filter_settles_on_any_input_whatever_came_before() {
        let mut filter = LowPass::default();
        for input in [u32::MAX, 0, 1, 0x8000_0000, 4711, u32::MAX - 1, 2] {
            let mut output = 0.0;
            for _ in 0..SETTLED {
                output = filter.sample(f64::from(input));
            }
            assert_eq!(nearest(output), input);
        }
    }
}
