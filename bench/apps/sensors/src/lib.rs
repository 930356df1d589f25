//! Two sensors, played with known delays for whoever polls them.
//!
//! What comes in the channel `pins` is what a program does to the pins of an ultrasonic sensor and of a
//! lamp; what goes into `levels` is the level of the pin that it polls. A message is a word: of `pins`,
//! what was done in the lowest two bits and the time of it above, in ns of the counter.
//!
//! - A trigger is answered by an echo whose length is that of sound's way to an object 30 cm away and
//!   back.
//! - A lamp that goes on is seen [`LIGHT`] later.

#![no_std]
#![forbid(unsafe_code)]

use tenon::time::{self, Duration, Instant};
use tenon_channel::{Error, Receiver, Sender};

/// How long the echo of an object at 30 cm is, where sound makes 34,300 cm in a second.
pub const ECHO: Duration = Duration::from_nanos(2 * 30 * 1_000_000_000 / 34_300);

/// From when the lamp goes on to when it is seen.
pub const LIGHT: Duration = Duration::from_nanos(2_122_000);

/// From the trigger to the echo's begin.
const SILENCE: Duration = Duration::from_micros(200);

/// How often what happens to the pins is looked at.
const LOOK: Duration = Duration::from_micros(20);

/// What is done to the pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Trigger,
    LampOn,
    LampOff,
}

/// A message: what was done, and when.
fn read(word: u64) -> Option<(Deed, Instant)> {
    let deed = match word & 3 {
        1 => Deed::Trigger,
        2 => Deed::LampOn,
        3 => Deed::LampOff,
        _ => return None,
    };
    Some((deed, Instant::from_nanoseconds(word >> 2)))
}

/// The main thread.
pub fn main() {
    if let Err(error) = play() {
        tenon::log::error!("no sensors: {error}");
    }
}

fn play() -> Result<(), Error> {
    let (mut pins, mut levels) = (Receiver::open("pins")?, Sender::open("levels")?);
    let mut word = [0; 8];
    loop {
        match pins.try_read(&mut word) {
            Ok(_) => answer(u64::from_le_bytes(word), &mut levels)?,
            // A program that went is followed by the next one.
            Err(Error::Empty | Error::PeerGone) => time::sleep(LOOK),
            Err(error) => return Err(error),
        }
    }
}

fn answer(word: u64, levels: &mut Sender) -> Result<(), Error> {
    let mut set = |level: u64| match levels.try_send(&level.to_le_bytes()) {
        Err(Error::PeerGone) => Ok(()),
        sent => sent,
    };
    match read(word) {
        Some((Deed::Trigger, _)) => {
            let begin = Instant::now() + SILENCE;
            time::sleep_until(begin);
            set(1)?;
            time::sleep_until(begin + ECHO);
            set(0)
        }
        Some((Deed::LampOn, when)) => {
            time::sleep_until(when + LIGHT);
            set(1)
        }
        Some((Deed::LampOff, _)) => set(0),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_what_was_done_and_when() {
        let when = Instant::from_nanoseconds(12_345);
        assert_eq!(read(12_345 << 2 | 1), Some((Deed::Trigger, when)));
        assert_eq!(read(12_345 << 2 | 2), Some((Deed::LampOn, when)));
        assert_eq!(read(12_345 << 2 | 3), Some((Deed::LampOff, when)));
        assert_eq!(read(12_345 << 2), None);
    }

    #[test]
    fn an_echo_is_as_long_as_sounds_way() {
        assert_eq!(ECHO.as_nanos(), 1_749_271);
    }
}
