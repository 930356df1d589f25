//! [`Text`]: formatted output into a buffer.

use core::fmt;

/// Text that is written into a buffer.
#[derive(Debug)]
pub struct Text<'a> {
    buffer: &'a mut [u8],
    length: usize,
}

impl<'a> Text<'a> {
    /// Empty text in a buffer.
    #[must_use]
    pub const fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, length: 0 }
    }

    /// The bytes written.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or(&[])
    }
}

impl fmt::Write for Text<'_> {
    /// Appends a string; an error if it does not fit.
    fn write_str(&mut self, string: &str) -> fmt::Result {
        let free = self.buffer.get_mut(self.length..);
        let room = free.and_then(|free| free.get_mut(..string.len()));
        room.ok_or(fmt::Error)?.copy_from_slice(string.as_bytes());
        self.length += string.len();
        Ok(())
    }
}
