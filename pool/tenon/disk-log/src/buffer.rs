//! [`Buffer`]: the bytes of a file that are appended and not durable yet.

use crate::Error;
use core::sync::atomic::{AtomicU8, Ordering};

/// Bytes that a file's buffer has room for.
pub const BUFFER: usize = 16 * 1024;

/// A ring with the bytes of a part of a file. [`Range`] has the part, and the order of accesses.
pub(crate) struct Buffer([AtomicU8; BUFFER]);

impl Buffer {
    /// A buffer of zeros, which takes no room in an image.
    pub const fn new() -> Self {
        Self([const { AtomicU8::new(0) }; BUFFER])
    }

    fn cells(&self, offset: u64) -> impl Iterator<Item = &AtomicU8> {
        self.0
            .iter()
            .cycle()
            .skip((offset % BUFFER as u64) as usize)
    }

    /// Writes bytes from an offset in the file on.
    pub fn write(&self, offset: u64, from: &[u8]) {
        for (cell, byte) in self.cells(offset).zip(from) {
            cell.store(*byte, Ordering::Relaxed);
        }
    }

    /// Reads bytes from an offset in the file on.
    pub fn read(&self, offset: u64, to: &mut [u8]) {
        for (byte, cell) in to.iter_mut().zip(self.cells(offset)) {
            *byte = cell.load(Ordering::Relaxed);
        }
    }
}

/// The part of a file that its buffer has, by offsets in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The end of what is durable.
    pub durable: u64,
    /// The end of what is appended.
    pub appended: u64,
}

impl Range {
    /// The range of a file of a size, all of which is durable.
    pub const fn at(size: u64) -> Self {
        Self {
            durable: size,
            appended: size,
        }
    }

    /// Adds room for bytes; returns where it begins.
    pub fn reserve(&mut self, bytes: usize) -> Result<u64, Error> {
        let end = self.appended + bytes as u64;
        if end - self.durable > BUFFER as u64 {
            return Err(Error::Full);
        }
        Ok(core::mem::replace(&mut self.appended, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_again_across_the_end_of_the_ring() {
        let buffer = Buffer::new();
        for offset in [0, 7, BUFFER as u64 - 3, 5 * BUFFER as u64 - 1] {
            buffer.write(offset, b"a record");
            let mut found = [0; 8];
            buffer.read(offset, &mut found);
            assert_eq!(&found, b"a record");
        }
    }

    #[test]
    fn a_record_without_room_is_refused_as_a_whole() {
        let mut range = Range::at(100);
        assert_eq!(range.reserve(BUFFER - 1), Ok(100));
        let before = range;
        assert_eq!(range.reserve(2), Err(Error::Full));
        assert_eq!(range, before);
        assert_eq!(range.reserve(1), Ok(99 + BUFFER as u64));
        range.durable += 10;
        assert_eq!(range.reserve(10), Ok(100 + BUFFER as u64));
        assert_eq!(range.reserve(1), Err(Error::Full));
    }
}
