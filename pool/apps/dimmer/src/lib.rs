//! Dims a lamp by pulse-width modulation on a GPIO pin.
//!
//! Each release of the periodic task `pwm` starts a period of [`SLOTS`] slots. The last digit of a
//! number is the duty cycle: the number of slots in which the pin is high. The level of the pin is read
//! back in each slot, and the measured digit enters the next number, so that a faulty pin changes the
//! answer.

#![no_std]
#![forbid(unsafe_code)]

use support_challenge::{answer, asked, step};
use tenon::environment;
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::{Duration, Instant, sleep_until};
use tenon_gpio::{Gpio, Pin, take};

/// Name of the task.
const TASK: &str = "pwm";

/// Default period from one rising edge to the next.
const PERIOD: Duration = Duration::from_millis(1);

/// GPIO pin of the lamp.
const LAMP: u8 = 5;

/// Slots per period: the resolution of the brightness.
const SLOTS: u32 = 10;

/// Periods until the answer.
const PERIODS: u64 = 20;

/// Main thread: asks for the number and becomes the task.
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

/// One period with the pin high for `duty` slots, then low. Returns the number of slots read as high.
fn pulse(gpio: &mut Gpio, pin: Pin, begin: Instant, slot: Duration, duty: u32) -> u32 {
    let mut high = 0;
    for passed in 0..SLOTS {
        sleep_until(begin + slot * passed);
        gpio.set(pin, passed < duty);
        high += u32::from(gpio.is_high(pin));
    }
    high
}
