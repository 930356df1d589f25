//! Decimal formatting of a line of text. `core::fmt` would add 15 kB to an image.

/// Digits of `u64::MAX`.
const DIGITS: usize = 20;

/// Writes `text` by `put`, with each `{}` replaced by the next of `numbers` in decimal. Without a
/// number left, `{}` is written as it is.
pub fn fill(text: &str, numbers: &[u64], put: &mut dyn FnMut(&[u8])) {
    let mut rest = text;
    for number in numbers {
        let Some((before, after)) = rest.split_once("{}") else {
            break;
        };
        put(before.as_bytes());
        decimal(*number, put);
        rest = after;
    }
    put(rest.as_bytes());
}

fn decimal(mut value: u64, put: &mut dyn FnMut(&[u8])) {
    let mut digits = [b'0'; DIGITS];
    let mut begin = DIGITS;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
        begin -= 1;
        if value == 0 {
            break;
        }
    }
    put(digits.get(begin..).unwrap_or(&[]));
}

#[cfg(test)]
mod tests {
    use super::fill;

    fn filled(text: &str, numbers: &[u64]) -> String {
        let mut all = Vec::new();
        fill(text, numbers, &mut |bytes| all.extend_from_slice(bytes));
        String::from_utf8(all).unwrap()
    }

    #[test]
    fn numbers_are_written_as_by_core_fmt() {
        for shift in 0..64 {
            let number = u64::MAX >> shift;
            assert_eq!(filled("{}", &[number]), format!("{number}"));
        }
        assert_eq!(filled("{}", &[0]), "0");
    }

    #[test]
    fn surplus_braces_are_kept_and_surplus_numbers_are_dropped() {
        assert_eq!(filled("{} and {}", &[1]), "1 and {}");
        assert_eq!(filled("one {}", &[1, 2]), "one 1");
        assert_eq!(filled("", &[1]), "");
    }
}
