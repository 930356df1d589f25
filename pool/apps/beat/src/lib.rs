//! Native task that waits for a thousand releases, one stated period apart, and prints the maximum
//! latency.

#![no_std]
#![forbid(unsafe_code)]

use core_bare::{Console, Time};

/// Period in ns where the system states none.
const PERIOD: u64 = 1_000_000;

/// Number of releases.
const RELEASES: u64 = 1_000;

/// Entry point of the task, with its rights as arguments.
pub fn main(time: Time, console: Console) {
    let period = time.period_or(PERIOD);
    console.line("waits for {} releases, {} ns apart", &[RELEASES, period]);
    let mut releases = time.every(period);
    let latest = (0..RELEASES).map(|_| releases.wait()).max().unwrap_or(0);
    console.line(
        "{} releases, the latest {} ns behind its time",
        &[RELEASES, latest],
    );
}
