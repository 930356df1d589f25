//! Areas of an address space: a sorted array without overlaps.

use crate::{Access, Error, PAGE};
use core::ops::Range;
use heapless::Vec;

/// What a process may do in an area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Loads.
    pub read: bool,
    /// Stores.
    pub write: bool,
    /// Instruction fetches.
    pub execute: bool,
}

impl Permissions {
    /// Whether they allow an access. A page that can be written or executed can be read.
    #[must_use]
    pub fn allow(self, access: Access) -> bool {
        match access {
            Access::Read => self.read || self.write || self.execute,
            Access::Write => self.write,
            Access::Execute => self.execute,
        }
    }
}

/// The initial content of an area.
#[derive(Clone, Copy, Debug)]
pub enum Backing {
    /// Zeros.
    Zero,
    /// Bytes from an offset on, then zeros: a private mapping of a file.
    Bytes(&'static [u8], usize),
}

impl Backing {
    /// The backing of an area that starts `distance` further on.
    fn advance(self, distance: usize) -> Self {
        match self {
            Self::Zero => Self::Zero,
            Self::Bytes(bytes, offset) => Self::Bytes(bytes, offset.saturating_add(distance)),
        }
    }

    /// Whether `next` continues this backing after `distance` bytes.
    fn continues(self, distance: usize, next: Self) -> bool {
        match (self, next) {
            (Self::Zero, Self::Zero) => true,
            (Self::Bytes(bytes, offset), Self::Bytes(other, start)) => {
                core::ptr::eq(bytes, other) && offset.checked_add(distance) == Some(start)
            }
            _ => false,
        }
    }
}

/// A range of pages with the same permissions and one backing.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// The first address.
    pub start: usize,
    /// The first address behind it.
    pub end: usize,
    /// What the process may do there.
    pub permissions: Permissions,
    /// What a page contains at first.
    pub backing: Backing,
}

impl Area {
    /// The part of the area within a range.
    fn clip(self, range: &Range<usize>) -> Self {
        let start = self.start.max(range.start);
        Self {
            start,
            end: self.end.min(range.end),
            backing: self.backing.advance(start - self.start),
            ..self
        }
    }

    /// Whether `next` continues this area, so that both are one.
    fn continues(&self, next: &Self) -> bool {
        self.end == next.start
            && self.permissions == next.permissions
            && self.backing.continues(self.end - self.start, next.backing)
    }
}

/// At most `N` areas, sorted by address. Memory of zeros has none.
#[derive(Clone, Debug)]
pub struct Areas<const N: usize>(Vec<Area, N>);

impl<const N: usize> Areas<N> {
    /// No area.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The areas, by address.
    pub fn iter(&self) -> core::slice::Iter<'_, Area> {
        self.0.iter()
    }

    /// The area of an address.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<&Area> {
        let area = self.0.get(self.first_behind(address))?;
        (area.start <= address).then_some(area)
    }

    /// The index of the first area that ends behind an address.
    fn first_behind(&self, address: usize) -> usize {
        self.0.partition_point(|area| area.end <= address)
    }

    /// The areas that overlap a range.
    fn within(&self, range: &Range<usize>) -> &[Area] {
        let first = self.first_behind(range.start);
        let end = self.0.partition_point(|area| area.start < range.end);
        self.0.get(first..end).unwrap_or_default()
    }

    /// Whether no area overlaps a range.
    #[must_use]
    pub fn is_free(&self, range: &Range<usize>) -> bool {
        self.within(range).is_empty()
    }

    /// Whether each page of a range is in an area.
    #[must_use]
    pub fn covers(&self, range: &Range<usize>) -> bool {
        let mut covered = range.start;
        for area in self.within(range) {
            if area.start > covered {
                return false;
            }
            covered = area.end;
        }
        covered >= range.end
    }

    /// Inserts an area where none is, and merges it with its neighbours.
    pub fn insert(&mut self, area: Area) -> Result<(), Error> {
        if !self.is_free(&(area.start..area.end)) {
            return Err(Error::Occupied);
        }
        let index = self.first_behind(area.start);
        if let Some(previous) = index.checked_sub(1).and_then(|i| self.0.get_mut(i))
            && previous.continues(&area)
        {
            previous.end = area.end;
            self.merge(index - 1);
            return Ok(());
        }
        self.0.insert(index, area).map_err(|_| Error::NoMemory)?;
        self.merge(index);
        Ok(())
    }

    /// Merges the area of an index with the next one if that continues it.
    fn merge(&mut self, index: usize) {
        if let [area, next, ..] = &mut self.0[index..]
            && area.continues(next)
        {
            area.end = next.end;
            self.0.remove(index + 1);
        }
    }

    /// Removes a range from all areas. An area around it becomes two.
    pub fn remove(&mut self, range: &Range<usize>) -> Result<(), Error> {
        self.replace(range, |_| None)
    }

    /// Changes the permissions of a range, all of which is in areas.
    pub fn protect(&mut self, range: &Range<usize>, permissions: Permissions) -> Result<(), Error> {
        if !self.covers(range) {
            return Err(Error::Occupied);
        }
        self.replace(range, |area| {
            Some(Area {
                permissions,
                ..area
            })
        })
    }

    /// Replaces the part of each area within a range by that which `change` returns.
    fn replace(
        &mut self,
        range: &Range<usize>,
        change: impl Fn(Area) -> Option<Area>,
    ) -> Result<(), Error> {
        // The parts before and behind the range that stay, beyond the areas that are there.
        let (first, last) = match self.within(range) {
            [] => return Ok(()),
            [only] => (*only, *only),
            [first, .., last] => (*first, *last),
        };
        let splits = usize::from(first.start < range.start) + usize::from(last.end > range.end);
        if self.0.len() + splits > N {
            return Err(Error::NoMemory);
        }
        let index = self.first_behind(range.start);
        let count = self.within(range).len();
        let mut at = index;
        for _ in 0..count {
            let area = self.0.remove(at);
            let before = area.clip(&(0..range.start.max(area.start)));
            let behind = area.clip(&(range.end.min(area.end)..usize::MAX));
            let changed = change(area.clip(range));
            for part in [Some(before), changed, Some(behind)].into_iter().flatten() {
                if part.start < part.end {
                    // There is room: the splits were counted.
                    let _ = self.0.insert(at, part);
                    at += 1;
                }
            }
        }
        // What is equal again, at the ends of the range too.
        for index in (index.saturating_sub(1)..at).rev() {
            if index + 1 < self.0.len() {
                self.merge(index);
            }
        }
        Ok(())
    }

    /// The highest free range of `size` bytes in `bounds`.
    #[must_use]
    pub fn find_free(&self, size: usize, bounds: &Range<usize>) -> Option<usize> {
        let mut end = bounds.end;
        for area in self.within(bounds).iter().rev() {
            if let Some(start) = end.checked_sub(size)
                && start >= area.end
            {
                break;
            }
            end = area.start;
        }
        end.checked_sub(size).filter(|start| *start >= bounds.start)
    }

    /// The pages of all areas.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.iter().map(|area| (area.end - area.start) / PAGE).sum()
    }
}

impl<const N: usize> Default for Areas<N> {
    fn default() -> Self {
        Self::new()
    }
}
