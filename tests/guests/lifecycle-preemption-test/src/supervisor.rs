//! Who pauses the other manager.

use crate::{BEAT, PAUSE, at, next_beat};
use tenon::time::{self, Duration, Instant};
use tenon_vm::{Error, State, Vm};

/// The moment of the first round.
const FIRST: Duration = Duration::from_nanos(64);

/// Pauses a VM once in each beat, until it has ended; says how often, and if it did anything meanwhile.
pub(crate) fn watch(subject: Vm) {
    let (mut paused, mut beat) = (0, next_beat());
    let outcome = loop {
        match meet(subject, beat) {
            Ok(true) => paused += 1,
            Ok(false) => break Ok(false),
            // It has ended between two looks.
            Err(Error::Busy) => break Ok(true),
            Err(error) => break Err(error),
        }
        beat += 1;
        // The moment took longer than there is time: leave beats out.
        beat = beat.max(next_beat() - 1);
    };
    match outcome {
        Ok(true) => tenon::log::info!("paused {paused} times, at rest each time"),
        Ok(false) => tenon::log::info!("FAILED: paused, it went on, or did not go on afterwards"),
        Err(error) => tenon::log::info!("FAILED: {error}"),
    }
}

/// Pauses it a moment after a beat, and lets it go on; whether it rested in between.
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

/// How long after a beat: half as long again from one round of calls to the next.
fn moment(beat: u64) -> Duration {
    let round = beat / crate::subject::CALLS as u64 % crate::ROUNDS;
    (0..round)
        .fold(FIRST, |moment, _| moment * 3 / 2)
        .min(BEAT / 4)
}
