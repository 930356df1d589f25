//! [`Path`]: a path that is resolved component by component.

use crate::Error;
use core::ops::Range;

/// The longest path in bytes, with its NUL.
pub const PATH: usize = 1024;

/// A path, and how far it is resolved.
#[derive(Clone, Debug)]
#[repr(C, align(8))]
pub struct Path {
    /// Aligned, as a copy of aligned words is searched for its end.
    bytes: [u8; PATH],
    length: usize,
    /// Where what is not resolved begins.
    at: usize,
}

impl Default for Path {
    fn default() -> Self {
        Self::new()
    }
}

impl Path {
    /// An empty path.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: [0; PATH],
            length: 0,
            at: 0,
        }
    }

    /// The path of a text.
    pub fn of(text: &[u8]) -> Result<Self, Error> {
        let mut path = Self::new();
        path.set(|room| {
            let place = room.get_mut(..text.len()).ok_or(Error::TooLong)?;
            place.copy_from_slice(text);
            Ok::<_, Error>(text.len())
        })?;
        Ok(path)
    }

    /// Sets the path to what `write` writes, which returns its length.
    pub fn set<E: From<Error>>(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        let length = write(&mut self.bytes)?;
        if length >= PATH {
            return Err(Error::TooLong.into());
        }
        (self.length, self.at) = (length, 0);
        Ok(())
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Whether it has no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether it begins at the root.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        self.bytes().first() == Some(&b'/')
    }

    /// Whether what is not resolved begins at the root.
    pub(crate) fn begins_at_root(&self) -> bool {
        self.at == 0 && self.is_absolute()
    }

    /// A part of it.
    #[must_use]
    pub fn text(&self, part: &Range<usize>) -> &[u8] {
        self.bytes().get(part.clone()).unwrap_or_default()
    }

    /// The next component, which stays what is resolved next.
    #[must_use]
    pub fn next_name(&self) -> Option<&[u8]> {
        let rest = self.bytes().get(self.at..)?;
        rest.split(|byte| *byte == b'/')
            .find(|name| !name.is_empty())
    }

    /// The next component, whether it is the last one, and whether a slash is behind it.
    pub(crate) fn next_component(&mut self) -> Option<(Range<usize>, bool, bool)> {
        let bytes = self.bytes();
        // The first place from one on that is a slash, or is none.
        let skip = |mut at: usize, slash: bool| {
            while let Some(byte) = bytes.get(at)
                && (*byte == b'/') != slash
            {
                at += 1;
            }
            at
        };
        let start = skip(self.at, false);
        if start >= bytes.len() {
            return None;
        }
        let end = skip(start, true);
        let last = skip(end, false) == bytes.len();
        let slash = end < bytes.len();
        self.at = end;
        Some((start..end, last, slash))
    }

    /// Puts what `write` writes in front of what is not resolved, and begins there.
    pub(crate) fn splice(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        let rest = self.length - self.at;
        let room = PATH - rest;
        self.bytes.copy_within(self.at..self.length, room);
        let length = write(&mut self.bytes[..room])?;
        if length + 1 >= room {
            return Err(Error::TooLong);
        }
        // What is left begins with a slash, or is empty.
        self.bytes.copy_within(room.., length);
        (self.length, self.at) = (length + rest, 0);
        Ok(())
    }
}
