//! Job on demand that sums up the numbers that it receives.
//!
//! A message on channel `jobs`, a line of numbers, creates its VM. It answers with a line on channel
//! `results`. When no message arrives for [`PATIENCE`] it turns the VM off, which frees its core and
//! memory.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod sum;

use hw_arch::firmware::{Hvc, system_off};
use sum::{LINE, Summary};
use tenon::time::{Duration, Instant};
use tenon_channel::{Error, Receiver, Sender};

/// Time-out for the next message.
const PATIENCE: Duration = Duration::from_millis(20);

/// Main thread: processes messages until the time-out, then turns the VM off.
pub fn main() {
    match work() {
        Ok(jobs) => tenon::log::info!("{jobs} done"),
        Err(Error::Absent) => return tenon::log::error!("no job: {}", Error::Absent),
        Err(error) => tenon::log::error!("no more jobs: {error}"),
    }
    system_off::<Hvc>()
}

/// Processes messages until the time-out; returns their number.
fn work() -> Result<u32, Error> {
    let mut jobs = Receiver::open("jobs")?;
    let mut results = Sender::open("results")?;
    let mut done = 0;
    loop {
        let mut line = [0; LINE];
        let deadline = Instant::now() + PATIENCE;
        let length = match jobs.read_until(&mut line, deadline) {
            Ok(length) => length.min(line.len()),
            Err(Error::TimedOut | Error::PeerGone) => return Ok(done),
            Err(error) => return Err(error),
        };
        let (line, _) = line.split_at(length);
        results.send(Summary::of(line).line().as_bytes())?;
        done += 1;
    }
}
