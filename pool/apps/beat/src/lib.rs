//! Native task that waits for a thousand releases, a millisecond apart, and prints the maximum
//! latency.

#![no_std]
#![forbid(unsafe_code)]

use core_bare::{Console, Time};

/// Period in ns.
const PERIOD: u64 = 1_000_000;

/// Number of releases.
const RELEASES: u64 = 1_000;

/// Entry point of the task, with its rights as arguments.
pub fn main(time: Time, console: Console) {
    console.line("waits for {} releases", &[RELEASES]);
    let mut releases = time.every(PERIOD);
    let latest = (0..RELEASES).map(|_| releases.wait()).max().unwrap_or(0);
    console.line(
        "{} releases, the latest {} ns behind its time",
        &[RELEASES, latest],
    );
}
