//! Bounded lists and names within a record.

use core::fmt;
use core::ops::Deref;
use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::{Error, limits};

/// List of up to `N` items with their count. Items behind the count are ignored.
#[derive(Clone, Copy, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct List<T, const N: usize> {
    items: [T; N],
    count: u32,
}

impl<T, const N: usize> List<T, N> {
    /// Whether the count is within the capacity. A list with a larger count reads as empty.
    pub(crate) const fn is_whole(&self) -> bool {
        self.count as usize <= N
    }

    /// Removes all items.
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Appends an item; false, without effect, if the list is full.
    #[must_use]
    pub fn push(&mut self, item: T) -> bool {
        let place = self.items.get_mut(self.count as usize);
        let fits = place.map(|place| *place = item).is_some();
        self.count += u32::from(fits);
        fits
    }
}

impl<T: Copy, const N: usize> List<T, N> {
    /// Empty list, with `item` in all unused places.
    pub const fn empty(item: T) -> Self {
        Self {
            items: [item; N],
            count: 0,
        }
    }

    /// List of `items`; `None` if they are none or too many.
    pub fn new(items: &[T]) -> Option<Self> {
        let mut list = Self::empty(*items.first()?);
        items.iter().all(|item| list.push(*item)).then_some(list)
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.items.get(..self.count as usize).unwrap_or(&[])
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a List<T, N> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

impl<T: PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq, const N: usize> Eq for List<T, N> {}

/// Name of printable ASCII; validated once.
#[derive(Clone, Copy, PartialEq, Eq, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Name(List<u8, { limits::NAME }>);

impl Name {
    /// The empty name.
    pub const NONE: Self = Self(List::empty(0));

    /// Name of these bytes; `None` if they are too long, empty or not printable ASCII.
    pub fn new(name: &[u8]) -> Option<Self> {
        let mut own = Self::NONE;
        own.set(name).then_some(own)
    }

    /// Name of a constant text, which must be printable ASCII of at most [`limits::NAME`] bytes.
    #[must_use]
    pub const fn of(name: &str) -> Self {
        let mut own = Self::NONE;
        let (to, _) = own.0.items.split_at_mut(name.len());
        to.copy_from_slice(name.as_bytes());
        own.0.count = name.len() as u32;
        own
    }

    /// Replaces the name; false if `name` is not valid: then the name stays as it is if `name` is too
    /// long, and is empty otherwise.
    pub fn set(&mut self, name: &[u8]) -> bool {
        self.0.clear();
        let Some(items) = self.0.items.get_mut(..name.len()) else {
            return false;
        };
        items.copy_from_slice(name);
        self.0.count = name.len() as u32;
        let sound = self.is_sound();
        if !sound {
            self.0.clear();
        }
        sound
    }

    /// Validates the name of a record.
    pub(crate) fn check(&self) -> Result<(), Error<'_>> {
        match self.is_sound() {
            true => Ok(()),
            false => Err(Error::invalid(
                self.as_str(),
                "name",
                "be a text of 1 to 32 bytes",
            )),
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        let (words, rest) = self.0.as_chunks::<8>();
        let mut last = [b' '; 8];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        !self.0.is_empty() && words.iter().chain([&last]).all(are_printable)
    }

    /// The name as bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as a string; checks that it is UTF-8.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or("")
    }
}

impl AsRef<[u8]> for Name {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// Whether all bytes are printable ASCII, `' '` to `'~'`, by comparisons on a whole word: as each byte
/// is below 128, its upper bit holds the result of the comparison.
fn are_printable(bytes: &[u8; 8]) -> bool {
    const UPPER: u64 = u64::from_ne_bytes([0x80; 8]);
    let all = |byte: u8| u64::from_ne_bytes([byte; 8]);
    let word = u64::from_ne_bytes(*bytes);
    let not_below = ((word | UPPER) - all(b' ')) & UPPER == UPPER;
    word & UPPER == 0 && not_below && (word + all(1)) & UPPER == 0
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Name;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_name_is_up_to_32_printable_bytes(bytes in prop::collection::vec(
            prop_oneof![20 => 0x20u8..0x7f, 1 => any::<u8>()], 0..36,
        )) {
            let good = (1..=32).contains(&bytes.len()) && bytes.iter().all(|byte| (0x20..0x7f).contains(byte));
            let name = Name::new(&bytes);
            prop_assert_eq!(name.is_some(), good);
            if let Some(name) = name {
                prop_assert_eq!(name.as_bytes(), &bytes[..]);
            }
        }
    }
}
