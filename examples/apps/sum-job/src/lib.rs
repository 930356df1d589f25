//! A job on demand: sums up the numbers it is sent, answers and ends.
//!
//! Its VM is made for a message in channel `jobs`, a line of numbers, and answers with a line in
//! channel `results`. When nothing more comes for a moment it turns itself off, and its core and
//! memory are free again.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod sum;

use hw_arch::firmware::{Hvc, system_off};
use sum::{LINE, Summary};
use tenon::time::{Duration, Instant};
use tenon_channel::{Error, Receiver, Sender};

/// How long it waits for more before it ends.
const PATIENCE: Duration = Duration::from_millis(20);

/// The main thread: works until nothing comes, then ends the VM.
pub fn main() {
    match work() {
        Ok(jobs) => tenon::log::info!("{jobs} done"),
        Err(Error::Absent) => return tenon::log::error!("no job: {}", Error::Absent),
        Err(error) => tenon::log::error!("no more jobs: {error}"),
    }
    system_off::<Hvc>()
}

/// Does all jobs there are; how many.
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
