//! The smallest application: one thread that sleeps for a millisecond and prints, a few times. Then
//! the core is idle.

#![no_std]
#![forbid(unsafe_code)]

use tenon::time::{self, Duration};

/// Number of lines.
const GREETINGS: usize = 5;

/// Main thread.
pub fn main() {
    for _ in 0..GREETINGS {
        time::sleep(Duration::from_millis(1));
        tenon::log::info!("hello from Tenon");
    }
}
