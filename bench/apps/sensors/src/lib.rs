//! Emulation of two sensors with known delays.
//!
//! Messages of channel `pins` are a program's writes to the pins of an ultrasonic sensor and of a lamp;
//! messages on `levels` are the level of the pin that the program polls. A message is a word; on `pins`
//! its lowest two bits are the write, and the others are the time of the write in ns.
//!
//! - A trigger is answered by an echo pulse for an object at a distance of 30 cm.
//! - The light sensor sees the lamp [`LIGHT`] after it is turned on.

#![no_std]
#![forbid(unsafe_code)]

use tenon::time::{self, Duration, Instant};
use tenon_channel::{Error, Receiver, Sender};

/// Length of the echo pulse for an object at 30 cm, at a speed of sound of 34,300 cm/s.
pub const ECHO: Duration = Duration::from_nanos(2 * 30 * 1_000_000_000 / 34_300);

/// Delay from the lamp's start to its detection.
pub const LIGHT: Duration = Duration::from_nanos(2_122_000);

/// Delay from the trigger to the start of the echo.
const SILENCE: Duration = Duration::from_micros(200);

/// Polling interval of channel `pins`.
const LOOK: Duration = Duration::from_micros(20);

/// Writes to the pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Trigger,
    LampOn,
    LampOff,
}

/// A message: the write and its time.
fn read(word: u64) -> Option<(Deed, Instant)> {
    let deed = match word & 3 {
        1 => Deed::Trigger,
        2 => Deed::LampOn,
        3 => Deed::LampOff,
        _ => return None,
    };
    Some((deed, Instant::from_nanoseconds(word >> 2)))
}

/// Main thread.
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
            // After the end of one program it serves the next one.
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
