//! A native task: it waits for a thousand releases, a millisecond apart, and says how late the
//! latest was.

#![no_std]
#![forbid(unsafe_code)]

use core_bare::{Console, Time};

/// From one release to the next, in nanoseconds.
const PERIOD: u64 = 1_000_000;

/// How many releases it waits for.
const RELEASES: u64 = 1_000;

/// The task, with what it may do.
pub fn main(time: Time, console: Console) {
    console.line("waits for {} releases", &[RELEASES]);
    let mut releases = time.every(PERIOD);
    let latest = (0..RELEASES).map(|_| releases.wait()).max().unwrap_or(0);
    console.line(
        "{} releases, the latest {} ns behind its time",
        &[RELEASES, latest],
    );
}
