//! Dims a lamp by pulse-width modulation on a GPIO pin.
//!
//! Each release of its periodic task `pwm` begins a period of [`SLOTS`] slots: for as many as the last
//! digit of a number says, the pin is high. In each slot the level of the pin is read back. The
//! number goes on with the digit that was read, so that a pin that does not follow is seen in it.

#![no_std]
#![forbid(unsafe_code)]

use support_challenge::{answer, asked, step};
use tenon::environment;
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::{Duration, Instant, sleep_until};
use tenon_gpio::{Gpio, Pin, take};

/// The task.
const TASK: &str = "pwm";

/// From one rising edge to the next, unless its system says otherwise.
const PERIOD: Duration = Duration::from_millis(1);

/// The number of the pin that the lamp is on.
const LAMP: u8 = 5;

/// Steps of brightness, as many slots of a period.
const SLOTS: u32 = 10;

/// Periods of which the answer is made.
const PERIODS: u64 = 20;

/// The main thread: asks, and becomes the task.
pub fn main() {
    let Some(lamp) = Pin::new(LAMP) else {
        return tenon::log::error!("there is no pin {LAMP}");
    };
    let mut gpio = match take() {
        Ok(gpio) => gpio,
        Err(error) => return tenon::log::error!("no lamp: {error}"),
    };
    gpio.make_output(lamp, false);
    let Some(mut number) = asked() else { return };
    tenon::thread::current().set_priority(Priority::HIGHEST);
    let given = environment::task(TASK).map(|task| Duration::from_nanos(task.period_ns));
    let slot = given.unwrap_or(PERIOD) / SLOTS;
    let mut periods = 0;
    Task::new(TASK, PERIOD).run(|sample| {
        let begin = Instant::from_nanoseconds(sample.release_ns);
        let seen = pulse(&mut gpio, lamp, begin, slot, number % SLOTS);
        if periods < PERIODS {
            number = step(number / SLOTS * SLOTS + seen);
            periods += 1;
            if periods == PERIODS {
                answer(number);
            }
        }
    });
}

/// One period: the pin is high for `duty` slots, then low. In how many it was high.
fn pulse(gpio: &mut Gpio, pin: Pin, begin: Instant, slot: Duration, duty: u32) -> u32 {
    let mut high = 0;
    for passed in 0..SLOTS {
        sleep_until(begin + slot * passed);
        gpio.set(pin, passed < duty);
        high += u32::from(gpio.is_high(pin));
    }
    high
}
