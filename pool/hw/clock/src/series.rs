//! Series of counter values a period apart.

use crate::Frequency;
use core::cell::Cell;

/// A series of instants a period apart, each the exact counter value, rounded up.
///
/// Value *k* is that of first + *k* × period nanoseconds. A step adds whole ticks, and from the
/// accumulated remainder decides when to add one more, as in Bresenham's line algorithm: no
/// division, and no error that accumulates.
///
/// ```
/// use hw_clock::{Frequency, Series};
///
/// let series = Series::new();
/// // 3 ticks in 125 ns: the first microsecond is 24 ticks, but 100 ns are 2.4.
/// series.begin(Frequency::from_hertz(24_000_000).unwrap(), 1_000, 100);
/// assert_eq!([series.ticks(), series.advance(), series.advance()], [24, 27, 29]);
/// ```
pub struct Series {
    ticks: Cell<u64>,
    /// Whole ticks of a period, and the remainder in units of 1 / `unit` ticks.
    whole: Cell<u64>,
    rest: Cell<u64>,
    /// Amount by which `ticks` was rounded up, in the same units.
    slack: Cell<u64>,
    unit: Cell<u64>,
    first_ns: Cell<u64>,
    period_ns: Cell<u64>,
}

impl Series {
    /// A series that has not begun.
    pub const fn new() -> Self {
        Self {
            ticks: Cell::new(0),
            whole: Cell::new(1),
            rest: Cell::new(0),
            slack: Cell::new(0),
            unit: Cell::new(1),
            first_ns: Cell::new(0),
            period_ns: Cell::new(1),
        }
    }

    /// Begins at `first_ns` nanoseconds; a period shorter than a tick counts as one tick.
    pub fn begin(&self, frequency: Frequency, first_ns: u64, period_ns: u64) {
        let period_ns = period_ns.max(frequency.tick());
        let (whole, rest) = frequency.split(period_ns);
        self.whole.set(whole);
        self.rest.set(rest);
        self.unit.set(frequency.unit());
        self.first_ns.set(first_ns);
        self.period_ns.set(period_ns);
        self.go_to(frequency, first_ns);
    }

    fn go_to(&self, frequency: Frequency, nanoseconds: u64) {
        let (whole, rest) = frequency.split(nanoseconds);
        let up = rest != 0;
        self.ticks.set(whole.saturating_add(up.into()));
        self.slack.set(if up { frequency.unit() - rest } else { 0 });
    }

    /// The present value.
    #[inline(always)]
    pub fn ticks(&self) -> u64 {
        self.ticks.get()
    }

    /// Advances to the next value. Beyond the end of the counter's range it is a past value, so
    /// that a caller that finds it late and [passes](Series::pass) it reaches the end of the range,
    /// where a series stays.
    #[inline(always)]
    pub fn advance(&self) -> u64 {
        let mut ticks = self.ticks.get().wrapping_add(self.whole.get());
        let rest = self.rest.get();
        if rest != 0 {
            let slack = self.slack.get();
            let more = rest > slack;
            ticks = ticks.wrapping_add(more.into());
            let borrowed = if more { self.unit.get() } else { 0 };
            self.slack.set(slack + borrowed - rest);
        }
        self.ticks.set(ticks);
        ticks
    }

    /// Advances to the first value after `now`. Returns the number of values skipped, including the
    /// present one.
    pub fn pass(&self, frequency: Frequency, now: u64) -> u64 {
        let (first, period) = (self.first_ns.get(), self.period_ns.get());
        // A value was rounded up by less than a tick, and so by less than a period.
        let number = |ticks| frequency.nanoseconds(ticks).saturating_sub(first) / period;
        let (present, next) = (number(self.ticks.get()), number(now).saturating_add(1));
        self.go_to(frequency, first.saturating_add(next.saturating_mul(period)));
        next.saturating_sub(present)
    }
}

impl Default for Series {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frequency() -> impl Strategy<Value = Frequency> {
        prop_oneof![
            1_000..=1_000_000_000u32,
            Just(62_500_000),
            Just(24_000_000),
            Just(19_200_000)
        ]
        .prop_map(|hertz| Frequency::from_hertz(hertz).unwrap())
    }

    proptest! {
        #[test]
        fn each_value_is_that_of_its_instant(
            frequency in frequency(),
            first in 0..1u64 << 60,
            period in 0..1u64 << 40,
            steps in 0..1_000u64,
        ) {
            let series = Series::new();
            series.begin(frequency, first, period);
            let period = series.period_ns.get();
            for k in 0..steps {
                prop_assert_eq!(series.ticks(), frequency.ticks(first + k * period));
                series.advance();
            }
        }

        #[test]
        fn passed_values_are_skipped_and_counted(
            frequency in frequency(),
            first in 0..1u64 << 60,
            period in 0..1u64 << 30,
            steps in 0..20u64,
            late in 0..1u64 << 34,
        ) {
            let series = Series::new();
            series.begin(frequency, first, period);
            let period = series.period_ns.get();
            for _ in 0..steps {
                series.advance();
            }
            let now = series.ticks() + late;
            let mut left_out = 0;
            let mut k = steps;
            // The model steps through all periods, so that their number is limited.
            prop_assume!(frequency.nanoseconds(late) / period < 10_000);
            while frequency.ticks(first + k * period) <= now {
                left_out += 1;
                k += 1;
            }
            prop_assert_eq!(series.pass(frequency, now), left_out);
            prop_assert_eq!(series.ticks(), frequency.ticks(first + k * period));
            series.advance();
            prop_assert_eq!(series.ticks(), frequency.ticks(first + (k + 1) * period));
        }
    }

    #[test]
    fn no_period_is_shorter_than_a_tick() {
        let series = Series::new();
        series.begin(Frequency::from_hertz(24_000_000).unwrap(), 0, 0);
        assert_eq!(series.period_ns.get(), 42);
        assert!(series.advance() > 0);
    }

    #[test]
    fn the_end_of_time_is_not_passed() {
        let series = Series::new();
        let frequency = Frequency::from_hertz(1_000_000_000).unwrap();
        series.begin(frequency, u64::MAX - 1, u64::MAX);
        for _ in 0..2 {
            let now = series.ticks();
            assert!(series.advance() <= now);
            series.pass(frequency, now);
            assert_eq!(series.ticks(), u64::MAX);
        }
    }
}
