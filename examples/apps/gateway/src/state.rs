//! [`State`]: what the loop has to show: its temperature, its period and its latencies.

use crate::histogram::{Histogram, Snapshot};
use crate::plate::AROUND;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// Values of a control loop, written by its thread and read by others without a lock.
#[derive(Debug)]
pub struct State {
    temperature: AtomicI32,
    period_ns: AtomicU64,
    latencies: Histogram,
}

/// A state at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Temperature in millidegrees.
    pub temperature: i32,
    /// Period in nanoseconds.
    pub period_ns: u64,
    /// Latencies of the jobs.
    pub latencies: Snapshot,
}

impl State {
    /// The state before the first job, of a loop with this period.
    #[must_use]
    pub const fn new(period_ns: u64) -> Self {
        Self {
            temperature: AtomicI32::new(AROUND),
            period_ns: AtomicU64::new(period_ns),
            latencies: Histogram::new(),
        }
    }

    /// Records a job, which had this latency and found this temperature.
    pub fn record(&self, latency_ns: u64, temperature: i32) {
        self.temperature.store(temperature, Ordering::Relaxed);
        self.latencies
            .record(latency_ns, self.period_ns.load(Ordering::Relaxed));
    }

    /// States the period, which is known from the second release on.
    pub fn set_period(&self, period_ns: u64) {
        self.period_ns.store(period_ns, Ordering::Relaxed);
    }

    /// The values. A job that is recorded meanwhile may be in some of them.
    #[must_use]
    pub fn values(&self) -> Values {
        Values {
            temperature: self.temperature.load(Ordering::Relaxed),
            period_ns: self.period_ns.load(Ordering::Relaxed),
            latencies: self.latencies.snapshot(),
        }
    }
}
