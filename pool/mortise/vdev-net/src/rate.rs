//! Rate limit of a port: a token bucket, as the time at which it would be full again.

/// Smallest bucket, in nanoseconds of the rate.
const BUCKET: u64 = 1_000_000;

/// Bytes that any bucket holds: two long frames.
const LEAST: u64 = 2 * 1518;

/// Fraction bits of a byte's time.
const FRACTION: u32 = 16;

/// Rate limit with its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Nanoseconds per byte, with [`FRACTION`] fraction bits; 0 without a limit.
    byte: u64,
    /// Time at which the bucket is full.
    full: u64,
}

impl Limit {
    /// Limit to a rate in bytes per second, 0 for none. The bucket is full.
    pub(crate) const fn new(rate: u64) -> Self {
        let byte = match (1_000_000_000u64 << FRACTION).checked_div(rate) {
            Some(byte) => byte,
            None => 0,
        };
        Self { byte, full: 0 }
    }

    /// Whether there is no limit.
    pub(crate) const fn is_none(&self) -> bool {
        self.byte == 0
    }

    /// Takes the bytes of a frame from the bucket, at a time in nanoseconds; false if there are too
    /// few.
    pub(crate) fn take(&mut self, bytes: u32, now: u64) -> bool {
        let time = |bytes: u64| bytes.saturating_mul(self.byte) >> FRACTION;
        let bucket = BUCKET.max(time(LEAST));
        let full = self.full.max(now).saturating_add(time(bytes.into()));
        let fits = full - now <= bucket;
        if fits {
            self.full = full;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_and_a_burst_is_bounded() {
        let mut limit = Limit::new(1_000_000);
        let burst = (0..100).filter(|_| limit.take(1000, 5)).count();
        assert_eq!(burst, 3, "two long frames");
        let mut sent = 0;
        for microsecond in 0..1_000_000u64 {
            sent += u64::from(limit.take(100, 10_000_000 + 1000 * microsecond)) * 100;
        }
        assert!((990_000..=1_005_000).contains(&sent), "{sent}");
    }

    #[test]
    fn no_rate_is_no_limit_and_extremes_do_not_overflow() {
        assert!(Limit::new(0).is_none());
        assert!(Limit::new(u64::MAX).is_none(), "no limit that matters");
        let mut slow = Limit::new(1);
        assert!(slow.take(1518, u64::MAX - 1));
        assert!(Limit::new(1).take(1518, 0));
    }
}
