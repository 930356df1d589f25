//! Digits of a number, for images that contain no formatting code.

/// Digits of the longest number in base ten or above.
const MOST_DIGITS: usize = 20;

/// The digits of `value` in base `base`, 10 to 16: the bytes from the returned index on, padded with
/// the byte `fill` to at least `places`, at most 20.
///
/// ```
/// let (bytes, begin) = core_log::digits(42, 10, (5, b' '));
/// assert_eq!(&bytes[begin..], b"   42");
/// ```
#[inline(always)]
pub fn digits(
    mut value: u64,
    base: u64,
    (places, fill): (usize, u8),
) -> ([u8; MOST_DIGITS], usize) {
    let mut digits = [fill; MOST_DIGITS];
    let mut begin = MOST_DIGITS;
    for digit in digits.iter_mut().rev() {
        if value == 0 && begin < MOST_DIGITS {
            break;
        }
        let figure = (value % base) as u8;
        *digit = figure + if figure < 10 { b'0' } else { b'a' - 10 };
        value /= base;
        begin -= 1;
    }
    (digits, begin.min(MOST_DIGITS.saturating_sub(places)))
}

#[cfg(test)]
mod tests {
    use super::digits;
    use proptest::prelude::*;

    fn text(value: u64, base: u64, fill: (usize, u8)) -> String {
        let (bytes, begin) = digits(value, base, fill);
        String::from_utf8(bytes[begin..].into()).unwrap()
    }

    proptest! {
        #[test]
        fn numbers_are_written_as_by_the_formatter(value in any::<u64>(), shift in 0..64u32) {
            let value = value >> shift;
            prop_assert_eq!(text(value, 10, (5, b' ')), format!("{value:5}"));
            prop_assert_eq!(text(value, 10, (9, b'0')), format!("{value:09}"));
            prop_assert_eq!(text(value, 16, (1, b'0')), format!("{value:x}"));
        }
    }
}
