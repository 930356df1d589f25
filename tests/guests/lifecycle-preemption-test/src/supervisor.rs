//! Manager that pauses the subject.

use crate::{BEAT, PAUSE, at, next_beat};
use tenon::time::{self, Duration, Instant};
use tenon_vm::{Error, State, Vm};

/// Offset of the pause in the first round.
const FIRST: Duration = Duration::from_nanos(64);

/// Pauses a VM once per period until it has ended; prints how often, and whether it ran while paused.
pub(crate) fn watch(subject: Vm) {
    let (mut paused, mut beat) = (0, next_beat());
    let outcome = loop {
        match meet(subject, beat) {
            Ok(true) => paused += 1,
            Ok(false) => break Ok(false),
            // It has ended since the last check.
            Err(Error::Busy) => break Ok(true),
            Err(error) => break Err(error),
        }
        beat += 1;
        // The pause took longer than a period: skip periods.
        beat = beat.max(next_beat() - 1);
    };
    match outcome {
        Ok(true) => tenon::log::info!("paused {paused} times, at rest each time"),
        Ok(false) => tenon::log::info!("FAILED: paused, it went on, or did not go on afterwards"),
        Err(error) => tenon::log::info!("FAILED: {error}"),
    }
}

/// Pauses the VM at an offset from the period's start, then resumes it; returns whether it was at rest.
fn meet(subject: Vm, beat: u64) -> Result<bool, Error> {
    let met = at(beat).nanoseconds() + moment(beat).as_nanos() as u64;
    time::sleep_until(Instant::from_nanoseconds(met));
    subject.pause()?;
    let before = subject.statistics()?;
    time::sleep_until(Instant::from_nanoseconds(met + PAUSE.as_nanos() as u64));
    let after = subject.statistics()?;
    subject.resume()?;
    let state = subject.statistics()?.state;
    let rested = before.state == State::Paused && before.exits == after.exits;
    Ok(rested && matches!(state, State::Running | State::Off))
}

/// Offset of the pause: grows by half from round to round.
fn moment(beat: u64) -> Duration {
    let round = beat / crate::subject::CALLS as u64 % crate::ROUNDS;
    (0..round)
        .fold(FIRST, |moment, _| moment * 3 / 2)
        .min(BEAT / 4)
}
