//! Line input from the console.
//!
//! A thread that waits for a line polls the UART every [`PAUSE`] and sleeps in between. Backspace
//! deletes a character; bytes that are not printable ASCII are ignored, and characters beyond
//! [`LINE`] are dropped. There is no echo. One thread at a time may read: two would each receive
//! some of the bytes.
//!
//! Guarantees: no allocation, no interrupt. [`read`] blocks until a line is complete.
//!
//! ```no_run
//! let line = tenon_line::read()?;
//! let number: Option<u32> = line.text().trim().parse().ok();
//! # Ok::<(), tenon_line::Error>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

use core::fmt;
use tenon_thread::input;
use tenon_thread::time::{self, Duration};

/// Maximum length of a line.
pub const LINE: usize = 80;

/// Polling interval of the UART; at 115,200 baud its FIFO is full after three times that.
pub const PAUSE: Duration = Duration::from_millis(1);

const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;

/// Error of line input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The console takes no input.
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

/// One line of input.
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

    /// The text without its terminator.
    pub fn text(&self) -> &str {
        let bytes = self.bytes.get(..self.length).unwrap_or(&[]);
        // The bytes are printable ASCII.
        core::str::from_utf8(bytes).unwrap_or("")
    }

    /// Appends a byte; returns whether it terminates the line.
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

/// Reads the next line.
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
    extern crate std;

    use super::{LINE, Line};
    use std::string::String;

    /// The text of a line, and the remaining input.
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
