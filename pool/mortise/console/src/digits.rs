//! Digits of numbers for the console, computed one at a time.

/// Decimal digit of `value` at `place`; place 0 is the last digit.
pub(crate) fn decimal(value: u64, place: u8) -> u8 {
    b'0' + power(place).map_or(0, |power| value / power % 10) as u8
}

/// Number of decimal digits of `value`, at least `least`.
pub(crate) fn places(value: u64, least: u8) -> u8 {
    let mut places = least;
    while power(places).is_some_and(|power| value >= power) {
        places += 1;
    }
    places
}

/// Hexadecimal digit of `value` at `place`.
pub(crate) fn hexadecimal(value: u64, place: u8) -> u8 {
    match (value >> (4 * u32::from(place)) & 0xf) as u8 {
        digit @ 0..10 => b'0' + digit,
        digit => b'a' - 10 + digit,
    }
}

/// Number of hexadecimal digits of `value`.
pub(crate) const fn hexadecimal_places(value: u64) -> u8 {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(4) as u8
}

/// 10 to the power of `place`, if it fits in 64 bits.
pub(crate) fn power(place: u8) -> Option<u64> {
    const POWERS: [u64; 20] = {
        let mut powers = [1; 20];
        let mut place = 1;
        while place < powers.len() {
            powers[place] = powers[place - 1] * 10;
            place += 1;
        }
        powers
    };
    POWERS.get(usize::from(place)).copied()
}
