//! [`Number`]: names of processes, threads and descriptors.

/// Digits of a number at most.
const DIGITS: usize = 10;

/// A number as a name: in decimal, without zeros in front.
pub(crate) struct Number {
    digits: [u8; DIGITS],
    start: usize,
}

impl Number {
    /// The name of a number.
    pub(crate) fn new(mut number: u32) -> Self {
        let (mut digits, mut start) = ([0; DIGITS], DIGITS);
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            start -= 1;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        Self { digits, start }
    }

    /// The bytes of the name.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.digits.get(self.start..).unwrap_or_default()
    }

    /// The number of a name.
    pub(crate) fn parse(name: &[u8]) -> Option<u32> {
        if name.is_empty() || name.len() > 1 && name.starts_with(b"0") {
            return None;
        }
        name.iter().try_fold(0u32, |number, byte| {
            let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
            number.checked_mul(10)?.checked_add(digit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_one_number() {
        for number in [0, 1, 9, 10, 4_194_303, u32::MAX] {
            let name = Number::new(number);
            assert_eq!(name.as_bytes(), number.to_string().as_bytes());
            assert_eq!(Number::parse(name.as_bytes()), Some(number));
        }
        for name in ["", "00", "01", "+1", "-1", "1x", " 1", "4294967296"] {
            assert_eq!(Number::parse(name.as_bytes()), None, "{name}");
        }
    }
}
