//! What a line begins with, a byte at a time.

/// The longest name that is shown; a system's are shorter.
const NAME: usize = 32;

/// Places of seconds that are there without need.
const PLACES: u8 = 5;

/// The beginning of a line, `[    1.002000000] linux| `, as far as it is not on the line yet.
///
/// Its bytes are worked out one by one: as a whole they cost ten times what a virtual machine that
/// shares its core may wait for.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    seconds: u64,
    nanoseconds: u32,
    name: [u8; NAME],
    length: u8,
    mark: u8,
    /// Places of the seconds, and the next byte.
    places: u8,
    at: u8,
}

/// What follows the time.
const BEHIND: &[u8] = b"] ";

impl Head {
    /// The beginning of a line of `name`'s that began at `began`, in nanoseconds.
    pub(crate) fn new(began: u64, name: &str, mark: u8) -> Self {
        let seconds = began / 1_000_000_000;
        let mut places = PLACES;
        while power(places).is_some_and(|power| seconds >= power) {
            places += 1;
        }
        let mut kept = [0; NAME];
        let length = name.len().min(NAME);
        kept[..length].copy_from_slice(&name.as_bytes()[..length]);
        Self {
            seconds,
            nanoseconds: (began % 1_000_000_000) as u32,
            name: kept,
            length: length as u8,
            mark,
            places,
            at: 0,
        }
    }

    /// The next byte, if there is one.
    pub(crate) fn next(&mut self) -> Option<u8> {
        let at = self.at;
        self.at = at.saturating_add(1);
        let Some(at) = at.checked_sub(1) else {
            return Some(b'[');
        };
        if at < self.places {
            let place = self.places - 1 - at;
            // Zeros in front are not shown, but for the last.
            let shown = place == 0 || power(place).is_some_and(|power| self.seconds >= power);
            return Some(if shown {
                digit(self.seconds, place)
            } else {
                b' '
            });
        }
        let at = at - self.places;
        let Some(at) = at.checked_sub(1) else {
            return Some(b'.');
        };
        if at < 9 {
            return Some(digit(self.nanoseconds.into(), 8 - at));
        }
        let at = usize::from(at - 9);
        let end = BEHIND.len() + usize::from(self.length);
        match at {
            _ if at < BEHIND.len() => Some(BEHIND[at]),
            _ if at < end => self.name.get(at - BEHIND.len()).copied(),
            _ if at == end => Some(self.mark),
            _ if at == end + 1 => Some(b' '),
            _ => None,
        }
    }
}

/// The digit of `value` at a decimal place, the last being place 0.
fn digit(value: u64, place: u8) -> u8 {
    b'0' + power(place).map_or(0, |power| value / power % 10) as u8
}

/// 10 to the power of `place`, if 64 bits hold it.
fn power(place: u8) -> Option<u64> {
    const POWERS: [u64; 20] = {
        let mut powers = [1; 20];
        let mut place = 1;
        while place < powers.len() {
            powers[place] = powers[place - 1] * 10;
            place += 1;
        }
        powers
    };
    POWERS.get(usize::from(place)).copied()
}
