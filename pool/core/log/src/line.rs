//! Line buffer: a text of bounded length.

use core::fmt;

/// Marks the end of a truncated text.
const CUT: &str = "...";

/// A text of at most `N` bytes, written to like a `String` and truncated beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<const N: usize> {
    bytes: [u8; N],
    length: usize,
    cut: bool,
}

impl<const N: usize> Line<N> {
    /// An empty text.
    pub const fn new() -> Self {
        Self {
            bytes: [0; N],
            length: 0,
            cut: false,
        }
    }

    /// The text so far.
    pub fn as_str(&self) -> &str {
        // Only whole characters are stored, so that the bytes are valid UTF-8.
        self.bytes
            .get(..self.length)
            .and_then(|bytes| str::from_utf8(bytes).ok())
            .unwrap_or("")
    }

    fn append(&mut self, text: &[u8]) {
        let room = self.bytes.iter_mut().skip(self.length);
        self.length += room.zip(text).map(|(to, from)| *to = *from).count();
    }
}

/// The end of the last whole character within the first `limit` bytes of a text. It works on bytes,
/// as slicing a `str` can panic, and the code that reports that panic takes 3 kB of each image that
/// logs.
fn boundary(text: &[u8], limit: usize) -> usize {
    let mut end = text.len().min(limit);
    // Continuation bytes have 10 in their upper bits.
    while text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end = end.saturating_sub(1);
    }
    end
}

impl<const N: usize> Default for Line<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Write for Line<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Ok(());
        }
        let text = text.as_bytes();
        let now = boundary(text, N.saturating_sub(self.length));
        self.append(text.get(..now).unwrap_or(text));
        if now < text.len() {
            self.cut = true;
            let stored = self.bytes.get(..self.length).unwrap_or_default();
            self.length = boundary(stored, N.saturating_sub(CUT.len()));
            self.append(CUT.as_bytes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fmt::Write as _;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_is_the_text_or_its_beginning(pieces in prop::collection::vec(".{0,12}", 0..8)) {
            let mut line = Line::<24>::new();
            for piece in &pieces {
                line.write_str(piece).unwrap();
            }
            let whole = pieces.concat();
            if whole.len() <= 24 {
                prop_assert_eq!(line.as_str(), whole);
            } else {
                let begin = line.as_str().strip_suffix(CUT).unwrap();
                prop_assert!(line.as_str().len() > 24 - 4 && whole.starts_with(begin));
            }
        }
    }
}
