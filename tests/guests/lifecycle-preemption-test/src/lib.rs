//! Two managers of virtual machines, of which one is paused in the midst of its calls.
//!
//! Both follow one clock. At each beat the *subject* makes one call, the next of its list each time.
//! The *supervisor*, who has authority over the subject, pauses it a moment after the beat and lets it go
//! on half a beat later; the moment comes later from round to round, so that each call is met at its
//! begin, in the middle and behind its end. Each call must end as it should, however it was met.

#![no_std]
#![forbid(unsafe_code)]

mod subject;
mod supervisor;

use hw_arch::firmware::{Hvc, system_off};
use tenon::time::{self, Duration, Instant};
use tenon_vm::{Error, Listed, State, Vm};

/// From one call to the next. The longest call takes less than a quarter of it.
pub(crate) const BEAT: Duration = Duration::from_millis(4);
/// How long the subject is paused: longer than any call takes.
pub(crate) const PAUSE: Duration = Duration::from_millis(2);
/// How often each call is made.
pub(crate) const ROUNDS: u64 = 24;

/// The beat that comes next but one: by then both are there.
pub(crate) fn next_beat() -> u64 {
    Instant::now().nanoseconds() / BEAT.as_nanos() as u64 + 2
}

/// When a beat is.
pub(crate) fn at(beat: u64) -> Instant {
    Instant::from_nanoseconds(beat * BEAT.as_nanos() as u64)
}

/// The main thread: a supervisor, if there is a subject that it has authority over. The VM is off then.
pub fn main() {
    match subject() {
        Ok(Some(vm)) => supervisor::watch(vm),
        Ok(None) => subject::train(),
        Err(error) => tenon::log::info!("FAILED: {error}"),
    }
    // What it said is on its way for a moment.
    time::sleep(Duration::from_millis(100));
    system_off::<Hvc>()
}

/// A VM that runs already, of those that this one manages.
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
