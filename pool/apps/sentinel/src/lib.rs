//! Watchdog demonstration that hangs on demand.
//!
//! Input of zero makes it hang. The watchdog then stops the image, and Mortise restarts the VM.

#![no_std]
#![forbid(unsafe_code)]

use support_challenge::{answer, asked, step};
use tenon::log;
use tenon::time::{self, Duration};
use tenon_watchdog::Watch;

/// Watchdog time-out of a step.
const PATIENCE: Duration = Duration::from_millis(10);

/// Period of steps.
const PAUSE: Duration = Duration::from_millis(2);

/// Steps of a number.
const STEPS: usize = 10;

/// Main thread: asks for the number and works under the watchdog.
pub fn main() {
    let Some(mut number) = asked() else { return };
    let watch = match Watch::start(PATIENCE) {
        Ok(watch) => watch,
        Err(error) => return log::error!("no watch: {error}"),
    };
    if number == 0 {
        hang();
    }
    for _ in 0..STEPS {
        time::sleep(PAUSE);
        number = step(number);
        watch.check_in();
    }
    answer(number);
}

fn hang() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
