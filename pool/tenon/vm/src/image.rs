//! Image to load into a VM.

/// Granule of loading: address and size are multiples of it.
pub const GRANULE: usize = 64;

/// A granule of an image, aligned for Mortise to copy.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Chunk(pub [u8; GRANULE]);

/// An image of `N` bytes, a multiple of [`GRANULE`], aligned for Mortise to copy.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Image<const N: usize> {
    bytes: [u8; N],
}

impl<const N: usize> Image<N> {
    /// An image of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; N]) -> Self {
        const { assert!(N.is_multiple_of(GRANULE), "whole chunks are loaded") };
        Self { bytes }
    }

    /// An image that starts with these instructions, padded with zeros; instructions beyond its
    /// size are left out.
    #[must_use]
    pub const fn of_code(code: &[u32]) -> Self {
        let mut bytes = [0; N];
        let mut at = 0;
        while at < code.len() && at * 4 + 3 < N {
            let word = code[at].to_le_bytes();
            let mut byte = 0;
            while byte < 4 {
                bytes[at * 4 + byte] = word[byte];
                byte += 1;
            }
            at += 1;
        }
        Self::new(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; N] {
        &self.bytes
    }
}
