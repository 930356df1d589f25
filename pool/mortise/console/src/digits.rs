//! Digits of numbers, one at a time.

/// The decimal digit of `value` at a place, the last being place 0.
pub(crate) fn decimal(value: u64, place: u8) -> u8 {
    b'0' + power(place).map_or(0, |power| value / power % 10) as u8
}

/// Decimal places of `value`, at least so many.
pub(crate) fn places(value: u64, least: u8) -> u8 {
    let mut places = least;
    while power(places).is_some_and(|power| value >= power) {
        places += 1;
    }
    places
}

/// The hexadecimal digit of `value` at a place.
pub(crate) fn hexadecimal(value: u64, place: u8) -> u8 {
    match (value >> (4 * u32::from(place)) & 0xf) as u8 {
        digit @ 0..10 => b'0' + digit,
        digit => b'a' - 10 + digit,
    }
}

/// Hexadecimal places of `value`.
pub(crate) const fn hexadecimal_places(value: u64) -> u8 {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(4) as u8
}

/// 10 to the power of `place`, if 64 bits hold it.
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
