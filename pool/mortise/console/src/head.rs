//! What is between two writers' bytes, a byte at a time.

use crate::digits::{decimal, places, power};
use core_manifest::Name;

/// Places of seconds that are there without need.
const PLACES: u8 = 5;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// What follows the time.
const BEHIND: &[u8] = b"] ";

/// What a line ends with.
const END: &[u8] = b"\r\n";

/// The end of a line and the beginning of the next, `[    1.002000000] linux| `, as far as they
/// are not on the line yet.
///
/// Its bytes are worked out one by one: as a whole they cost ten times what a virtual machine that
/// shares its core may wait for.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    /// Bytes of a line's end that are put already.
    end: u8,
    /// Whether a line begins behind it.
    begins: bool,
    /// When the line began, in nanoseconds.
    began: u64,
    name: Name,
    mark: u8,
    /// The next byte of it.
    at: u8,
}

impl Between {
    /// Nothing.
    pub(crate) const NOTHING: Self = Self {
        end: END.len() as u8,
        begins: false,
        began: 0,
        name: Name::NONE,
        mark: 0,
        at: 0,
    };

    /// A line ends.
    pub(crate) const fn end_line(&mut self) {
        self.end = 0;
    }

    /// A line of `name`'s begins, which began at `began`, in nanoseconds.
    pub(crate) fn begin_line(&mut self, began: u64, name: &Name, mark: u8) {
        self.begins = true;
        self.began = began;
        self.name = *name;
        self.mark = mark;
        self.at = 0;
    }

    /// Whether there is nothing.
    pub(crate) const fn is_nothing(&self) -> bool {
        self.end as usize >= END.len() && !self.begins
    }

    /// The next byte, if there is one.
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

    /// The byte of the beginning that is next.
    fn byte(&self) -> Option<u8> {
        let Some(at) = self.at.checked_sub(1) else {
            return Some(b'[');
        };
        let (seconds, nanoseconds) = (self.began / SECOND, self.began % SECOND);
        let places = places(seconds, PLACES);
        if at < places {
            let place = places - 1 - at;
            // Zeros in front are not shown, but for the last.
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
        let end = BEHIND.len() + name.len();
        match at {
            _ if at < BEHIND.len() => Some(BEHIND[at]),
            _ if at < end => name.get(at - BEHIND.len()).copied(),
            _ if at == end => Some(self.mark),
            _ if at == end + 1 => Some(b' '),
            _ => None,
        }
    }
}
