//! Blinks a lamp on a GPIO pin.
//!
//! Each release of the periodic task `blink` inverts the pin's level and reads it back. A mismatch is
//! reported once, and so are the first [`CHANGES`] changes without one.

#![no_std]
#![forbid(unsafe_code)]

use tenon::log;
use tenon::periodic::Task;
use tenon::time::Duration;
use tenon_gpio::{Pin, take};

/// Default period of the task.
const PERIOD: Duration = Duration::from_millis(500);

/// GPIO pin of the lamp.
const LAMP: u8 = 5;

/// Changes after which success is reported.
const CHANGES: u32 = 4;

/// Main thread: becomes the task.
pub fn main() {
    let Some(lamp) = Pin::new(LAMP) else {
        return log::error!("there is no pin {LAMP}");
    };
    let mut gpio = match take() {
        Ok(gpio) => gpio,
        Err(error) => return log::error!("no lamp: {error}"),
    };
    gpio.make_output(lamp, false);
    let (mut lit, mut followed) = (false, 0);
    Task::new("blink", PERIOD).run(|_| {
        lit = !lit;
        gpio.set(lamp, lit);
        if followed >= CHANGES {
            return;
        }
        if gpio.is_high(lamp) != lit {
            log::error!("pin {LAMP} does not follow");
            followed = CHANGES;
            return;
        }
        followed += 1;
        if followed == CHANGES {
            log::info!("the lamp blinks");
        }
    });
}
