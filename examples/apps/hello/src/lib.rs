//! The smallest application: one thread that sleeps for a millisecond and prints, a few times, and
//! then leaves the core idle.

#![no_std]
#![forbid(unsafe_code)]

use tenon::time::{self, Duration};

/// How often it prints.
const GREETINGS: usize = 5;

/// The main thread, preemptible as all threads are.
pub fn main() {
    for _ in 0..GREETINGS {
        time::sleep(Duration::from_millis(1));
        tenon::log::info!("hello from Tenon");
    }
}
