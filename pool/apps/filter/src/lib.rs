//! A low-pass filter in floating point, whose output another virtual machine reads.
//!
//! At each release the filter comes nearer to its input, the number it was given. What it has settled
//! on goes into channel `telemetry` as a line; taken on by a step, it is the next input. The answer
//! goes there too, and nowhere else; only where there is no such channel the console has it all.

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

/// From one sample to the next, unless its system says otherwise.
const PERIOD: Duration = Duration::from_millis(1);

/// How much of what its output lacks a filter makes up for at a sample.
const SHARE: f64 = 0.75;

/// Samples after which the output of any input is within half of one: 2³² × ¼²⁰ is.
const SETTLED: u64 = 20;

/// Inputs of which the answer is made.
const INPUTS: u64 = 5;

/// A low-pass filter of the first order.
#[derive(Clone, Copy, Debug, Default)]
pub struct LowPass {
    output: f64,
}

impl LowPass {
    /// The output after one more sample of the input.
    pub fn sample(&mut self, input: f64) -> f64 {
        self.output += (input - self.output) * SHARE;
        self.output
    }
}

/// The main thread: asks, and becomes the task.
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

/// The whole number nearest to an output.
fn nearest(output: f64) -> u32 {
    (output + 0.5) as u32
}

/// Sends a line; a release waits for nobody who reads.
fn tell(telemetry: &mut Option<Sender>, text: Arguments<'_>) {
    let Some(telemetry) = telemetry else {
        return log::info!("{text}");
    };
    let mut line = Line::<64>::new();
    // A `Line` takes whatever it is given.
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
