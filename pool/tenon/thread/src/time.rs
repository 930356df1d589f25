//! Instants, and waiting for them.

use crate::kernel::Kernel;
use crate::thread::Wait;
use core::ops::{Add, Sub};

pub use crate::periodic::PeriodicTimer;
pub use crate::timer::Timer;
pub use core::time::Duration;

/// A point in time: nanoseconds since the system counter was zero, the same in every VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// That many nanoseconds after the counter was zero.
    pub const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// The present.
    #[inline(always)]
    pub fn now() -> Self {
        // Neither the counter nor its frequency changes: nothing needs masking.
        Self(Kernel::local_clock().nanoseconds())
    }

    /// Nanoseconds since the counter was zero.
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }

    /// The time since an earlier instant, zero if it was not earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// From one value of [`Instant::now`] to the next: a tick of the counter, rounded up.
pub fn resolution() -> Duration {
    let hertz = Kernel::local_clock().frequency().hertz();
    Duration::from_nanos(1_000_000_000_u64.div_ceil(hertz.into()))
}

/// A duration in nanoseconds; the longest that fits is 584 years.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
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

/// Blocks the current thread until `instant`; one that passed is no wait at all.
#[inline(always)]
pub fn sleep_until(instant: Instant) {
    Kernel::with_blocking(|kernel| {
        let clock = kernel.clock();
        let ticks = clock.frequency().ticks(instant.nanoseconds());
        if clock.ticks() < ticks {
            let thread = kernel.current();
            kernel.start_timer(thread.timer(), ticks);
            thread.wait(kernel, Wait::Timer);
        }
    });
}

/// Blocks the current thread for at least `duration`.
pub fn sleep(duration: Duration) {
    sleep_until(Instant::now() + duration);
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
