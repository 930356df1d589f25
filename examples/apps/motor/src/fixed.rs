//! Fixed-point numbers, as images are built without floating point.

use core::ops::{Add, Mul, Sub};

/// A number with 16 fractional bits; sums and products saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fixed(i32);

impl Fixed {
    const FRACTION: u32 = 16;

    /// Zero.
    pub const ZERO: Self = Self(0);

    /// `numerator` / `denominator`, rounded towards zero. `denominator` must not be zero.
    pub const fn from_ratio(numerator: i32, denominator: i32) -> Self {
        Self(saturate(
            ((numerator as i64) << Self::FRACTION) / denominator as i64,
        ))
    }

    /// Absolute value.
    pub const fn magnitude(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// The number, limited to a range.
    pub fn limit(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }
}

const fn saturate(wide: i64) -> i32 {
    if wide > i32::MAX as i64 {
        i32::MAX
    } else if wide < i32::MIN as i64 {
        i32::MIN
    } else {
        wide as i32
    }
}

impl Add for Fixed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Fixed {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul for Fixed {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(saturate(
            (i64::from(self.0) * i64::from(other.0)) >> Self::FRACTION,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_those_of_fractions(a in -1_000_000..1_000_000i32, b in -1_000_000..1_000_000i32) {
            let (x, y) = (Fixed::from_ratio(a, 1_000), Fixed::from_ratio(b, 1_000));
            let exact = f64::from(x.0) * f64::from(y.0) / 65_536.0;
            let limited = exact.clamp(f64::from(i32::MIN), f64::from(i32::MAX));
            prop_assert!((f64::from((x * y).0) - limited).abs() <= 1.0);
        }

        #[test]
        fn nothing_overflows(a in any::<i32>(), b in any::<i32>()) {
            let (x, y) = (Fixed(a), Fixed(b));
            let _ = (x + y, x - y, x * y, x.magnitude());
        }
    }
}
