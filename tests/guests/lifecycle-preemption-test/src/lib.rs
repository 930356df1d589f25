//! Test of life-cycle calls that are interrupted by a pause of their caller.
//!
//! Two managers follow a common clock. In each period the *subject* makes the next call of its list. The
//! *supervisor*, which has authority over the subject, pauses it shortly after the start of the period
//! and resumes it half a period later. The offset grows from round to round, so that each call is
//! interrupted at its start, in the middle and after its end. The outcome must always be the same.

#![no_std]
#![forbid(unsafe_code)]

mod subject;
mod supervisor;

use hw_arch::firmware::{Hvc, system_off};
use tenon::time::{self, Duration, Instant};
use tenon_vm::{Error, Listed, State, Vm};

/// Period of calls. The longest call takes less than a quarter of it.
pub(crate) const BEAT: Duration = Duration::from_millis(4);
/// Length of a pause, longer than any call.
pub(crate) const PAUSE: Duration = Duration::from_millis(2);
/// Number of times that each call is made.
pub(crate) const ROUNDS: u64 = 24;

/// The next period but one, by which both managers are ready.
pub(crate) fn next_beat() -> u64 {
    Instant::now().nanoseconds() / BEAT.as_nanos() as u64 + 2
}

/// Start of a period.
pub(crate) fn at(beat: u64) -> Instant {
    Instant::from_nanoseconds(beat * BEAT.as_nanos() as u64)
}

/// Main thread: the supervisor, if it has authority over a running VM, else the subject.
pub fn main() {
    match subject() {
        Ok(Some(vm)) => supervisor::watch(vm),
        Ok(None) => subject::train(),
        Err(error) => tenon::log::info!("FAILED: {error}"),
    }
    // Mortise prints the output of the VM with a delay.
    time::sleep(Duration::from_millis(100));
    system_off::<Hvc>()
}

/// A managed VM that is running.
fn subject() -> Result<Option<Vm>, Error> {
    let mut slot = 0;
    loop {
        match Listed::at(slot) {
            Ok(Some(listed)) if matches!(listed.state, State::Starting | State::Running) => {
                return Ok(Some(listed.vm));
            }
            Ok(_) => slot += 1,
            Err(Error::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}
