//! A text of bounded length.

use core::fmt;

/// What a text ends with that was cut.
const CUT: &str = "...";

/// A text of at most `N` bytes that is written to like a `String`; what is too much is cut off.
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
        // Only whole characters are ever stored, so the text is there.
        self.bytes
            .get(..self.length)
            .and_then(|bytes| str::from_utf8(bytes).ok())
            .unwrap_or("")
    }

    fn append(&mut self, text: &str) {
        let room = self.bytes.iter_mut().skip(self.length);
        self.length += room.zip(text.bytes()).map(|(to, from)| *to = from).count();
    }
}

/// The end of the last whole character within the first `limit` bytes.
fn boundary(text: &str, limit: usize) -> usize {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
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
        let (now, rest) = text.split_at(boundary(text, N - self.length));
        self.append(now);
        if !rest.is_empty() {
            self.cut = true;
            self.length = boundary(self.as_str(), N.saturating_sub(CUT.len()));
            self.append(CUT);
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
