//! Exact conversion between counter ticks and nanoseconds.

use core::num::NonZeroU64;

const NANOSECONDS_PER_SECOND: u32 = 1_000_000_000;

/// The counter's frequency, as the reduced fraction of nanoseconds per tick.
///
/// No system counter is faster than 1 GHz (Arm ARM, D12.1.1), so that there are never more ticks
/// than nanoseconds. With *n*/*d* that fraction, ticks are split into whole multiples of *d* and a
/// remainder: the multiples convert without rounding, the remainder is below *d* < 2³² and times
/// *n* < 2³⁰ fits in a `u64`. So 64-bit divisions give the exact result that otherwise takes
/// 128-bit ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frequency {
    hertz: u32,
    /// Nanoseconds in `period_ticks` ticks; both without a common divisor.
    period_nanoseconds: NonZeroU64,
    period_ticks: NonZeroU64,
}

impl Frequency {
    /// The frequency of `hertz` ticks per second; `None` for zero and beyond 1 GHz.
    pub const fn from_hertz(hertz: u32) -> Option<Self> {
        if hertz == 0 || hertz > NANOSECONDS_PER_SECOND {
            return None;
        }
        let divisor = greatest_common_divisor(NANOSECONDS_PER_SECOND, hertz);
        let (Some(period_nanoseconds), Some(period_ticks)) = (
            NonZeroU64::new((NANOSECONDS_PER_SECOND / divisor) as u64),
            NonZeroU64::new((hertz / divisor) as u64),
        ) else {
            return None;
        };
        Some(Self {
            hertz,
            period_nanoseconds,
            period_ticks,
        })
    }

    /// Ticks per second.
    pub const fn hertz(self) -> u32 {
        self.hertz
    }

    /// The time `ticks` take, in nanoseconds rounded down.
    #[inline]
    pub const fn nanoseconds(self, ticks: u64) -> u64 {
        let (period, span) = (self.period_ticks.get(), self.period_nanoseconds.get());
        let whole = (ticks / period).saturating_mul(span);
        whole.saturating_add(ticks % period * span / period)
    }

    /// The fewest ticks that take at least `nanoseconds`.
    #[inline]
    pub const fn ticks(self, nanoseconds: u64) -> u64 {
        let (period, span) = (self.period_ticks.get(), self.period_nanoseconds.get());
        // There are at most as many ticks as nanoseconds: nothing overflows.
        let whole = nanoseconds / span * period;
        // Below the square of 10⁹: rounding up by a sum is shorter than by a remainder.
        let short_of_next = span - 1;
        whole + (nanoseconds % span * period + short_of_next) / span
    }
}

impl Frequency {
    /// The ticks of `nanoseconds`: whole ticks, and the remainder in fractions of a tick, of which
    /// [`unit`](Frequency::unit) make one.
    pub(crate) const fn split(self, nanoseconds: u64) -> (u64, u64) {
        let (period, span) = (self.period_ticks.get(), self.period_nanoseconds.get());
        let rest = nanoseconds % span * period;
        (nanoseconds / span * period + rest / span, rest % span)
    }

    /// Nanoseconds of a tick, rounded up.
    pub(crate) const fn tick(self) -> u64 {
        let (period, span) = (self.period_ticks.get(), self.period_nanoseconds.get());
        span.div_ceil(period)
    }

    pub(crate) const fn unit(self) -> u64 {
        self.period_nanoseconds.get()
    }
}

const fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn common_frequencies_reduce() {
        let parts = |hertz| {
            let frequency = Frequency::from_hertz(hertz).unwrap();
            (
                frequency.period_nanoseconds.get(),
                frequency.period_ticks.get(),
            )
        };
        assert_eq!(parts(62_500_000), (16, 1));
        assert_eq!(parts(24_000_000), (125, 3));
        assert_eq!(parts(54_000_000), (500, 27));
        assert_eq!(parts(1_000_000_000), (1, 1));
        assert_eq!(Frequency::from_hertz(0), None);
        assert_eq!(Frequency::from_hertz(1_000_000_001), None);
    }

    fn frequency() -> impl Strategy<Value = Frequency> {
        prop_oneof![
            1..=NANOSECONDS_PER_SECOND,
            Just(62_500_000),
            Just(24_000_000),
            Just(19_200_000)
        ]
        .prop_map(|hertz| Frequency::from_hertz(hertz).unwrap())
    }

    fn clamp(wide: u128) -> u64 {
        u64::try_from(wide).unwrap_or(u64::MAX)
    }

    proptest! {
        #[test]
        fn nanoseconds_are_the_exact_quotient(frequency in frequency(), ticks in any::<u64>()) {
            let exact = u128::from(ticks) * 1_000_000_000 / u128::from(frequency.hertz());
            prop_assert_eq!(frequency.nanoseconds(ticks), clamp(exact));
        }

        #[test]
        fn ticks_are_the_exact_quotient_rounded_up(frequency in frequency(), time in any::<u64>()) {
            let exact = (u128::from(time) * u128::from(frequency.hertz())).div_ceil(1_000_000_000);
            prop_assert_eq!(frequency.ticks(time), clamp(exact));
        }

        #[test]
        fn a_timer_never_expires_early(frequency in frequency(), time in 0..u64::MAX / 8) {
            let ticks = frequency.ticks(time);
            prop_assume!(ticks < u64::MAX && frequency.nanoseconds(ticks) < u64::MAX);
            prop_assert!(frequency.nanoseconds(ticks) >= time);
            prop_assert!(ticks == 0 || frequency.nanoseconds(ticks - 1) < time);
        }
    }
}
