//! Whose line it is.

/// The longest name that is shown; a system's are shorter.
const LENGTH: usize = 32;

/// A name, kept: its owner may be gone before it is on the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    bytes: [u8; LENGTH],
    length: u8,
}

impl Name {
    /// No name.
    pub(crate) const EMPTY: Self = Self {
        bytes: [0; LENGTH],
        length: 0,
    };

    /// Keeps this one.
    pub(crate) fn set(&mut self, name: &[u8]) {
        let name = name.get(..LENGTH).unwrap_or(name);
        if let Some(bytes) = self.bytes.get_mut(..name.len()) {
            bytes.copy_from_slice(name);
            self.length = name.len() as u8;
        }
    }

    /// Number of its bytes.
    pub(crate) fn len(&self) -> usize {
        self.length.into()
    }

    /// One of its bytes.
    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(..self.len())?.get(at).copied()
    }
}
