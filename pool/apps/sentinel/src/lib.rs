//! Hangs on demand, and has a watchdog notice it.
//!
//! A zero makes it hang: the watchdog ends the image, and under Mortise the VM begins anew and asks
//! again.

#![no_std]
#![forbid(unsafe_code)]

use support_challenge::{answer, asked, step};
use tenon::log;
use tenon::time::{self, Duration};
use tenon_watchdog::Watch;

/// How long it may take for a step.
const PATIENCE: Duration = Duration::from_millis(10);

/// From one step to the next.
const PAUSE: Duration = Duration::from_millis(2);

/// Steps of a number.
const STEPS: usize = 10;

/// The main thread: asks, and works under a watch.
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
