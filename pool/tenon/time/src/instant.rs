//! Instants on the time axis of the system counter.

use core::ops::{Add, Sub};
use core::time::Duration;
use tenon_kernel::kernel::Kernel;

/// A point in time: nanoseconds since the system counter was zero, the same in every VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The instant `nanoseconds` after the counter was zero.
    pub const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// The current instant.
    #[inline(always)]
    pub fn now() -> Self {
        // The frequency is constant and the counter is read at once, so interrupts need not be
        // masked.
        Self(Kernel::local_clock().nanoseconds())
    }

    /// Nanoseconds since the counter was zero.
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }

    /// The time since an earlier instant; zero if it is not earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// The resolution of [`Instant::now`]: a tick of the counter, rounded up.
pub fn resolution() -> Duration {
    let hertz = Kernel::local_clock().frequency().hertz();
    Duration::from_nanos(1_000_000_000_u64.div_ceil(hertz.into()))
}

/// A duration in nanoseconds, saturated at 584 years.
pub fn nanoseconds(duration: Duration) -> u64 {
    duration
        .as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(duration.subsec_nanos().into())
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanoseconds(duration)))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(nanoseconds(duration)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_durations_add_up_and_saturate() {
        let instant = Instant::from_nanoseconds(2_500_000_000);
        let later = instant + Duration::from_millis(1_500);
        assert_eq!(later.nanoseconds(), 4_000_000_000);
        assert_eq!(later.since(instant), Duration::from_millis(1_500));
        assert_eq!(instant.since(later), Duration::ZERO);
        assert_eq!((instant - Duration::from_secs(9)).nanoseconds(), 0);
        assert_eq!((instant + Duration::MAX).nanoseconds(), u64::MAX);
    }
}
