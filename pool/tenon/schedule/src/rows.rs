//! [`Rows`] of a table, of which those in use come first.

use core::ops::{Deref, DerefMut};

/// Rows of a table with fixed places. A search looks at the rows up to the last one in use, which
/// are few while there are few, as the lowest free place is used first.
#[derive(Debug)]
pub struct Rows<'a, T> {
    all: &'a mut [Option<T>],
    /// The rows from this place on are free.
    used: usize,
}

impl<'a, T> Rows<'a, T> {
    /// Begins with rows that are free.
    #[must_use]
    pub fn new(all: &'a mut [Option<T>]) -> Self {
        Self { all, used: 0 }
    }

    /// Places in all.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.all.len()
    }

    /// The row of a place, if it is in use: without the bound of a search.
    #[inline]
    #[must_use]
    pub fn row(&self, place: usize) -> Option<&T> {
        self.all.get(place)?.as_ref()
    }

    /// As [`row`](Self::row), to change it.
    #[inline]
    pub fn row_mut(&mut self, place: usize) -> Option<&mut T> {
        self.all.get_mut(place)?.as_mut()
    }

    /// The lowest free place that `accepts`.
    #[must_use]
    pub fn free(&self, accepts: impl Fn(usize) -> bool) -> Option<usize> {
        let mut all = self.all.iter().enumerate();
        let found = all.find(|(place, row)| row.is_none() && accepts(*place));
        found.map(|(place, _)| place)
    }

    /// Fills a place. Rows that were freed are left out of searches from now on, and not before:
    /// a place that was in use can be looked at while its row is being removed.
    pub fn put(&mut self, place: usize, row: T) {
        if let Some(free) = self.all.get_mut(place) {
            *free = Some(row);
            let last = self.iter().rposition(Option::is_some);
            self.used = last.map_or(0, |last| last + 1).max(place + 1);
        }
    }
}

impl<T> Deref for Rows<'_, T> {
    type Target = [Option<T>];

    fn deref(&self) -> &Self::Target {
        self.all.get(..self.used).unwrap_or_default()
    }
}

impl<T> DerefMut for Rows<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.all.get_mut(..self.used).unwrap_or_default()
    }
}
