//! Line ends and line prefixes of the console, produced a byte at a time.

use crate::digits::{decimal, places, power};
use core_manifest::Name;

/// Minimum width of seconds.
const PLACES: u8 = 5;

/// Nanoseconds per second.
const SECOND: u64 = 1_000_000_000;

/// Text after the time.
const AFTER_TIME: &[u8] = b"] ";

/// Line end.
const END: &[u8] = b"\r\n";

/// The bytes separator two writers' output that are still to be written: a line end and the prefix of
/// the next line, `[    1.002000000] linux| `.
///
/// They are computed one by one: as a whole they would exceed the bound of a masked section on a
/// shared core tenfold.
#[derive(Clone, Debug)]
pub(crate) struct Separator {
    /// Bytes of the line end that are written already.
    end: u8,
    /// Whether a prefix follows.
    begins: bool,
    /// Time at which the line began, in nanoseconds.
    began: u64,
    name: Name,
    mark: u8,
    /// Index of the next byte.
    at: u8,
}

impl Separator {
    /// No bytes.
    pub(crate) const NOTHING: Self = Self {
        end: END.len() as u8,
        begins: false,
        began: 0,
        name: Name::NONE,
        mark: 0,
        at: 0,
    };

    /// Ends a line.
    pub(crate) const fn end_line(&mut self) {
        self.end = 0;
    }

    /// Begins a line of `name` with its time in nanoseconds.
    pub(crate) fn begin_line(&mut self, began: u64, name: &Name, mark: u8) {
        self.begins = true;
        self.began = began;
        self.name = *name;
        self.mark = mark;
        self.at = 0;
    }

    /// Whether no byte is left.
    pub(crate) const fn is_nothing(&self) -> bool {
        self.end as usize >= END.len() && !self.begins
    }

    /// The next byte, if any is left.
    pub(crate) fn next(&mut self) -> Option<u8> {
        if let Some(byte) = END.get(usize::from(self.end)) {
            self.end += 1;
            return Some(*byte);
        }
        if !self.begins {
            return None;
        }
        let byte = self.byte();
        self.at = self.at.saturating_add(1);
        self.begins = byte.is_some();
        byte
    }

    /// The next byte of the prefix.
    fn byte(&self) -> Option<u8> {
        let Some(at) = self.at.checked_sub(1) else {
            return Some(b'[');
        };
        let (seconds, nanoseconds) = (self.began / SECOND, self.began % SECOND);
        let places = places(seconds, PLACES);
        if at < places {
            let place = places - 1 - at;
            // Leading zeros are omitted.
            let shown = place == 0 || power(place).is_some_and(|power| seconds >= power);
            return Some(if shown { decimal(seconds, place) } else { b' ' });
        }
        let at = at - places;
        let Some(at) = at.checked_sub(1) else {
            return Some(b'.');
        };
        if at < 9 {
            return Some(decimal(nanoseconds, 8 - at));
        }
        let at = usize::from(at - 9);
        let name = self.name.as_bytes();
        let end = AFTER_TIME.len() + name.len();
        match at {
            _ if at < AFTER_TIME.len() => Some(AFTER_TIME[at]),
            _ if at < end => name.get(at - AFTER_TIME.len()).copied(),
            _ if at == end => Some(self.mark),
            _ if at == end + 1 => Some(b' '),
            _ => None,
        }
    }
}
