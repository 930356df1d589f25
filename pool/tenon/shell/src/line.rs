//! Lines typed on the console, one at a time.
//!
//! Who waits for a line looks at the serial port every [`PAUSE`] and sleeps in between; a byte costs
//! a look, and waiting next to nothing. Backspace takes back, what is no text is passed over, and what
//! does not fit [`LINE`] is lost. Nothing is echoed. One thread at a time is to read: of two each
//! would have some of the bytes.
//!
//! Guarantees: no allocation, no interrupt. [`read`] waits for as long as nobody ends a line.
//!
//! ```no_run
//! let line = tenon_shell::line::read()?;
//! let number: Option<u32> = line.text().trim().parse().ok();
//! # Ok::<(), tenon_shell::line::Error>(())
//! ```

use core::fmt;
use tenon_thread::input;
use tenon_thread::time::{self, Duration};

/// Bytes of the longest line.
pub const LINE: usize = 80;

/// From one look at the serial port to the next; at 115,200 baud its FIFO is full after three times that.
pub const PAUSE: Duration = Duration::from_millis(1);

const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;

/// Why there is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Nothing can be typed to this VM.
    NoInput,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoInput => "the console takes no input (its VM has no `input = true`)",
        })
    }
}

impl core::error::Error for Error {}

/// A line as it was typed.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    bytes: [u8; LINE],
    length: usize,
}

impl Line {
    const fn new() -> Self {
        Self {
            bytes: [0; LINE],
            length: 0,
        }
    }

    /// What stands in it, without its end.
    pub fn text(&self) -> &str {
        let bytes = self.bytes.get(..self.length).unwrap_or(&[]);
        // Nothing else than ASCII is let in.
        core::str::from_utf8(bytes).unwrap_or("")
    }

    /// Takes a byte; whether it ends the line.
    fn ends_with(&mut self, byte: u8) -> bool {
        match byte {
            b'\r' | b'\n' => return true,
            BACKSPACE | DELETE => self.length = self.length.saturating_sub(1),
            b' '..=b'~' => {
                if let Some(place) = self.bytes.get_mut(self.length) {
                    *place = byte;
                    self.length += 1;
                }
            }
            _ => {}
        }
        false
    }
}

/// The next line that is typed.
pub fn read() -> Result<Line, Error> {
    if !input::is_available() {
        return Err(Error::NoInput);
    }
    let mut line = Line::new();
    loop {
        match input::read_byte() {
            Some(byte) if line.ends_with(byte) => return Ok(line),
            Some(_) => {}
            None => time::sleep(PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE, Line};

    /// The text of a line, and what is left of what was typed.
    fn typed(bytes: &[u8]) -> (String, &[u8]) {
        let mut line = Line::new();
        let end = bytes.iter().position(|byte| line.ends_with(*byte));
        let rest = end.map_or(&[][..], |end| &bytes[end + 1..]);
        (line.text().into(), rest)
    }

    #[test]
    fn a_line_ends_with_either_end() {
        assert_eq!(typed(b"one\rtwo"), ("one".into(), &b"two"[..]));
        assert_eq!(typed(b"one\ntwo"), ("one".into(), &b"two"[..]));
        assert_eq!(typed(b"\n"), (String::new(), &b""[..]));
    }

    #[test]
    fn backspace_takes_back_what_is_there() {
        assert_eq!(typed(b"\x08onf\x7fe\n").0, "one");
    }

    #[test]
    fn what_is_no_text_and_what_does_not_fit_is_passed_over() {
        assert_eq!(typed(b"\x1b\xffo\0ne\n").0, "one");
        let long = [b'x'; LINE + 9];
        let (text, _) = typed(&long);
        assert_eq!(text.len(), LINE);
    }
}
