//! Count, sum and range of the numbers in a line of text.

use core::fmt::{self, Write};

/// Maximum size of a request or an answer in bytes.
pub const LINE: usize = 64;

/// Count, sum, minimum and maximum of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    count: u32,
    sum: i64,
    least: i64,
    most: i64,
}

/// A text of at most [`LINE`] bytes; longer text is truncated.
pub struct Line {
    bytes: [u8; LINE],
    length: usize,
}

impl Line {
    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&[])
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (place, byte) in self.bytes.iter_mut().skip(self.length).zip(text.bytes()) {
            *place = byte;
            self.length += 1;
        }
        Ok(())
    }
}

impl Summary {
    /// The summary of the numbers in a line; other words are skipped.
    pub fn of(line: &[u8]) -> Self {
        let words = line.split(|byte| byte.is_ascii_whitespace());
        let numbers = words.filter_map(|word| str::from_utf8(word).ok()?.parse::<i32>().ok());
        numbers.fold(Self::default(), |summary, number| {
            let number = i64::from(number);
            let first = summary.count == 0;
            Self {
                count: summary.count + 1,
                sum: summary.sum + number,
                least: if first {
                    number
                } else {
                    summary.least.min(number)
                },
                most: if first {
                    number
                } else {
                    summary.most.max(number)
                },
            }
        })
    }

    /// The summary as text.
    pub fn line(&self) -> Line {
        let mut line = Line {
            bytes: [0; LINE],
            length: 0,
        };
        let Self {
            count,
            sum,
            least,
            most,
        } = self;
        // Writing to a `Line` never fails.
        let _ = match count {
            0 => writeln!(line, "no numbers"),
            _ => writeln!(line, "{count} numbers, sum {sum}, {least} to {most}"),
        };
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        String::from_utf8(Summary::of(line.as_bytes()).line().as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn numbers_are_summed_up() {
        assert_eq!(said("3 1 4 1 5\n"), "5 numbers, sum 14, 1 to 5\n");
        assert_eq!(said("-2 7"), "2 numbers, sum 5, -2 to 7\n");
    }

    #[test]
    fn what_is_no_number_is_passed_over() {
        assert_eq!(said(""), "no numbers\n");
        assert_eq!(
            said("x 99999999999 \u{7f} 12"),
            "1 numbers, sum 12, 12 to 12\n"
        );
        assert_eq!(
            Summary::of(&[0xff, b' ', b'1']).line().as_bytes(),
            b"1 numbers, sum 1, 1 to 1\n"
        );
    }

    #[test]
    fn the_longest_line_has_room() {
        let line = "-2147483648 ".repeat(5) + "9999";
        assert!(said(&line).ends_with("9999\n"));
    }
}
