//! Blinks a lamp on a GPIO pin.
//!
//! At each release of its periodic task `blink` the pin's level changes. It is read back, so that a pin
//! that does not follow is told of, once; after [`CHANGES`] that did, so much is said.

#![no_std]
#![forbid(unsafe_code)]

use tenon::log;
use tenon::periodic::Task;
use tenon::time::Duration;
use tenon_gpio::{Pin, take};

/// From one change to the next, unless its system says otherwise.
const PERIOD: Duration = Duration::from_millis(500);

/// The number of the pin that the lamp is on.
const LAMP: u8 = 5;

/// Changes after which all is said to be well.
const CHANGES: u32 = 4;

/// The main thread: becomes the task.
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
