//! [`Histogram`]: latencies of a periodic task by powers of two.

use core::sync::atomic::{AtomicU64, Ordering};

/// Buckets of a histogram.
pub const BUCKETS: usize = 14;

/// End of the first bucket in nanoseconds; each of the others ends at twice the one before it, and
/// the last one has none.
const FIRST_NS: u64 = 1000;

/// Latencies, recorded by one thread and read by others without a lock.
#[derive(Debug)]
pub struct Histogram {
    counts: [AtomicU64; BUCKETS],
    largest_ns: AtomicU64,
    late: AtomicU64,
}

/// Values of a histogram at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Number of latencies in each bucket.
    pub counts: [u64; BUCKETS],
    /// The largest latency in nanoseconds.
    pub largest_ns: u64,
    /// Number of latencies beyond the deadline.
    pub late: u64,
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; BUCKETS],
            largest_ns: AtomicU64::new(0),
            late: AtomicU64::new(0),
        }
    }

    /// Records a latency, of a job that is late beyond `deadline_ns`. Called by one thread.
    pub fn record(&self, latency_ns: u64, deadline_ns: u64) {
        if let Some(count) = self.counts.get(bucket(latency_ns)) {
            add(count, 1);
        }
        let largest_ns = self.largest_ns.load(Ordering::Relaxed).max(latency_ns);
        self.largest_ns.store(largest_ns, Ordering::Relaxed);
        add(&self.late, u64::from(latency_ns > deadline_ns));
    }

    /// The values. A job that is recorded meanwhile may be in some of them.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot {
            largest_ns: self.largest_ns.load(Ordering::Relaxed),
            late: self.late.load(Ordering::Relaxed),
            ..Snapshot::default()
        };
        for (to, from) in snapshot.counts.iter_mut().zip(&self.counts) {
            *to = from.load(Ordering::Relaxed);
        }
        snapshot
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Advances a counter with one writer.
fn add(count: &AtomicU64, number: u64) {
    count.store(count.load(Ordering::Relaxed) + number, Ordering::Relaxed);
}

/// Number of the bucket of a latency.
fn bucket(latency_ns: u64) -> usize {
    let doublings = (latency_ns / FIRST_NS).checked_ilog2();
    let bucket = doublings.map_or(0, |doublings| doublings as usize + 1);
    bucket.min(BUCKETS - 1)
}

/// Begin of a bucket in microseconds.
#[must_use]
pub const fn begin_us(bucket: usize) -> u64 {
    match bucket {
        0 => 0,
        _ => (FIRST_NS / 1000) << (bucket - 1),
    }
}

impl Snapshot {
    /// Number of latencies.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_where_the_next_begins() {
        for number in 1..BUCKETS {
            let begin_ns = begin_us(number) * 1000;
            assert_eq!(bucket(begin_ns), number);
            assert_eq!(bucket(begin_ns - 1), number - 1);
        }
        assert_eq!((bucket(0), bucket(u64::MAX)), (0, BUCKETS - 1));
    }

    #[test]
    fn latencies_are_counted_with_the_largest_and_the_late_ones() {
        let histogram = Histogram::new();
        for latency_ns in [500, 1500, 1600, 2_000_000] {
            histogram.record(latency_ns, 1_000_000);
        }
        let snapshot = histogram.snapshot();
        assert_eq!(snapshot.counts[..3], [1, 2, 0]);
        assert_eq!((snapshot.total(), snapshot.late), (4, 1));
        assert_eq!(snapshot.largest_ns, 2_000_000);
    }
}
