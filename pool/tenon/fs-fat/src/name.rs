//! Names of entries: long ones in UTF-16, and short ones of eight and three bytes.

use crate::Error;
use crate::slot::{LONG, NAME, SLOT};

/// UTF-16 units of a slot.
const UNITS: usize = 13;
/// Slots of a long name at most.
const MOST: usize = 20;
/// Mark of the first slot, which has the last units.
const LAST: u8 = 0x40;

/// Short names that are tried for a long one.
pub(crate) const CANDIDATES: u32 = 16;

/// The sum of a short name, by which slots of a long one belong to it.
pub(crate) fn sum(short: &[u8; 11]) -> u8 {
    short
        .iter()
        .fold(0u8, |sum, byte| sum.rotate_right(1).wrapping_add(*byte))
}

/// Offsets of units in a slot.
fn places() -> impl Iterator<Item = usize> {
    (1..11).chain(14..26).chain(28..32).step_by(2)
}

/// A long name that is read slot by slot.
pub(crate) struct Long {
    units: [u16; MOST * UNITS],
    /// The number of the last slot; zero before the first one.
    number: usize,
    /// Slots in all.
    slots: usize,
    sum: u8,
}

impl Long {
    pub fn new() -> Self {
        Self {
            units: [0; MOST * UNITS],
            number: 0,
            slots: 0,
            sum: 0,
        }
    }

    /// Adds a slot; returns whether it is the first one of a name.
    pub fn add(&mut self, slot: &[u8; SLOT]) -> bool {
        let number = usize::from(slot[0] & !LAST);
        let begins = slot[0] & LAST != 0;
        if !(1..=MOST).contains(&number) {
            self.number = 0;
            self.slots = 0;
            return false;
        }
        if begins {
            (self.slots, self.sum) = (number, slot[13]);
        } else if self.slots == 0 || number + 1 != self.number || slot[13] != self.sum {
            self.slots = 0;
        }
        self.number = number;
        let units = self.units.iter_mut().skip((number - 1) * UNITS);
        for (unit, at) in units.zip(places()) {
            *unit = u16::from_le_bytes([slot[at], slot[at + 1]]);
        }
        begins
    }

    /// Writes the name to the short one in front of which its slots are, in UTF-8; its length. `None` if
    /// it is not whole, or no name of a file.
    pub fn text(&self, short: &[u8; 11], to: &mut [u8; NAME]) -> Option<usize> {
        if self.slots == 0 || self.number != 1 || self.sum != sum(short) {
            return None;
        }
        let units = self.units.get(..self.slots * UNITS)?;
        let end = units.iter().position(|unit| *unit == 0);
        let units = units.get(..end.unwrap_or(units.len()))?;
        let mut length = 0;
        for character in char::decode_utf16(units.iter().copied()) {
            let character = character.ok().filter(|one| is_usable(*one))?;
            let place = to.get_mut(length..length + character.len_utf8())?;
            length += character.encode_utf8(place).len();
        }
        let name = to.get(..length)?;
        (!matches!(name, b"" | b"." | b"..")).then_some(length)
    }
}

/// Whether a name may have a character (FATGEN103, naming conventions).
fn is_usable(character: char) -> bool {
    !character.is_control() && !"\"*/:<>?\\|".contains(character)
}

/// Writes a short name as text; its length.
pub(crate) fn text_of_short(short: &[u8; 11], case: u8, to: &mut [u8; NAME]) -> usize {
    let (base, extension) = short.split_at(8);
    let mut length = 0;
    for (part, lower) in [(base, case & 0x08 != 0), (extension, case & 0x10 != 0)] {
        let end = part.iter().rposition(|byte| *byte != b' ');
        let part = part.get(..end.map_or(0, |end| end + 1)).unwrap_or_default();
        if length > 0 && !part.is_empty() {
            to[length] = b'.';
            length += 1;
        }
        for byte in part {
            to[length] = match *byte {
                byte if !byte.is_ascii() || !is_usable(byte.into()) => b'_',
                byte if lower => byte.to_ascii_lowercase(),
                byte => byte,
            };
            length += 1;
        }
    }
    if length == 0 {
        to[0] = b'_';
        length = 1;
    }
    length
}

/// A name that is to be written.
pub(crate) struct New {
    units: [u16; MOST * UNITS],
    /// Slots of the long name; none if the short one is the same.
    pub slots: u32,
    /// The short name, if there is one in the same letters or in capitals.
    plain: Option<[u8; 11]>,
    /// Of others: the first characters, and the extension.
    base: [u8; 6],
    extension: [u8; 3],
    hash: u16,
}

impl New {
    /// The forms of a name; fails if FAT has no such name.
    pub fn of(name: &[u8]) -> Result<Self, Error> {
        let text = core::str::from_utf8(name).map_err(|_| Error::Name)?;
        let usable = text.chars().all(is_usable) && !text.ends_with([' ', '.']);
        if !usable || text.is_empty() || name.len() > NAME {
            return Err(Error::Name);
        }
        // Behind the last unit a zero and then ones, unless it fills its slot.
        let mut units = [0xffff; MOST * UNITS];
        let mut count = 0;
        for unit in text.encode_utf16() {
            *units.get_mut(count).ok_or(Error::Name)? = unit;
            count += 1;
        }
        if let Some(behind) = units.get_mut(count)
            && !count.is_multiple_of(UNITS)
        {
            *behind = 0;
        }
        let (stem, tail) = match text.rsplit_once('.') {
            Some((stem, tail)) if !stem.is_empty() => (stem, tail),
            _ => (text, ""),
        };
        let plain = short(stem, tail);
        let same = plain.is_some() && !text.bytes().any(|byte| byte.is_ascii_lowercase());
        let fold = |hash: u16, byte: &u8| hash.rotate_left(5).wrapping_add((*byte).into());
        Ok(Self {
            units,
            slots: if same {
                0
            } else {
                count.div_ceil(UNITS) as u32
            },
            plain,
            base: letters(stem),
            extension: letters(tail),
            hash: name.iter().fold(0, fold),
        })
    }

    /// A short name that stands for it: of [`CANDIDATES`].
    pub fn candidate(&self, number: u32) -> Option<[u8; 11]> {
        if self.slots == 0 || number == 0 {
            return self.plain.filter(|_| number == 0);
        }
        let mut short = [b' '; 11];
        let letters = self.base.iter().take_while(|byte| **byte != b' ');
        let digit = b'0' + (number % 10) as u8;
        let hash = self.hash.wrapping_add((number / 10) as u16);
        let mut at = 0;
        // The first ones with a number alone, then with a hash of the name.
        let most = if number < 5 { 6 } else { 2 };
        for letter in letters.take(most) {
            short[at] = *letter;
            at += 1;
        }
        if number >= 5 {
            for shift in [12, 8, 4, 0] {
                short[at] = b"0123456789ABCDEF"[usize::from(hash >> shift & 15)];
                at += 1;
            }
        }
        (short[at], short[at + 1]) = (b'~', digit);
        short[8..].copy_from_slice(&self.extension);
        Some(short)
    }

    /// A slot of the long name, by its number from 1 on.
    pub fn slot(&self, number: u32, short: &[u8; 11]) -> [u8; SLOT] {
        let mut slot = [0; SLOT];
        slot[0] = number as u8 | if number == self.slots { LAST } else { 0 };
        (slot[11], slot[13]) = (LONG, sum(short));
        let units = self.units.iter().skip((number as usize - 1) * UNITS);
        for (unit, at) in units.zip(places()) {
            slot[at..at + 2].copy_from_slice(&unit.to_le_bytes());
        }
        slot
    }
}

/// Whether a short name may have a byte.
fn is_short(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'()-@^_`{}~".contains(&byte)
}

/// The short name of a stem and an extension, in capitals, if they fit.
fn short(stem: &str, tail: &str) -> Option<[u8; 11]> {
    let fits = stem.len() <= 8 && tail.len() <= 3 && stem.bytes().chain(tail.bytes()).all(is_short);
    let mut short = [b' '; 11];
    if !fits || stem.is_empty() {
        return None;
    }
    short[..stem.len()].copy_from_slice(stem.as_bytes());
    short[8..8 + tail.len()].copy_from_slice(tail.as_bytes());
    short.make_ascii_uppercase();
    Some(short)
}

/// The first characters of a text that a short name may have, in capitals.
fn letters<const N: usize>(text: &str) -> [u8; N] {
    let mut letters = [b' '; N];
    let usable = text
        .bytes()
        .filter(|byte| is_short(*byte) && byte.is_ascii());
    for (letter, byte) in letters.iter_mut().zip(usable) {
        *letter = byte.to_ascii_uppercase();
    }
    letters
}
