//! Lists of bounded length, within a record.

use core::fmt;
use core::ops::Deref;
use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::limits;

/// Up to `N` items, and how many there are. Those behind them mean nothing.
#[derive(Clone, Copy, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct List<T, const N: usize> {
    items: [T; N],
    count: u32,
}

impl<T, const N: usize> List<T, N> {
    /// Whether it has no more than there is room for. Where it has more it counts as empty.
    pub(crate) const fn is_whole(&self) -> bool {
        self.count as usize <= N
    }

    /// Makes it empty.
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds an item; false, and nothing changes, if there is no room.
    #[must_use]
    pub fn push(&mut self, item: T) -> bool {
        let place = self.items.get_mut(self.count as usize);
        let fits = place.map(|place| *place = item).is_some();
        self.count += u32::from(fits);
        fits
    }
}

impl<T: Copy, const N: usize> List<T, N> {
    /// One without any, with `item` where others will be.
    pub const fn empty(item: T) -> Self {
        Self {
            items: [item; N],
            count: 0,
        }
    }

    /// These items; nothing if there is no room for all.
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

/// A name, UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Name(List<u8, { limits::NAME }>);

impl Name {
    /// Nobody's.
    pub const NONE: Self = Self(List::empty(0));

    /// This name; nothing if it is too long, or no text.
    pub fn new(name: &[u8]) -> Option<Self> {
        let name = List::new(name).map_or(Self::NONE, Self);
        name.is_sound().then_some(name)
    }

    pub(crate) fn is_sound(&self) -> bool {
        !self.0.is_empty() && !self.0.contains(&0) && str::from_utf8(&self.0).is_ok()
    }

    /// It, byte by byte.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// It as a text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or("")
    }
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
