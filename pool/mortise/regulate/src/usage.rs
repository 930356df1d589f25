//! Events that one core caused, by interval.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The usage of a core. Its core writes it; others read the [published](CoreUsage::published)
/// events.
pub struct CoreUsage {
    /// The current interval, and the counter's value at its start.
    interval: AtomicU64,
    counted: AtomicU32,
    /// Events in an interval, and the lower half of the number of the interval after it.
    published: AtomicU64,
    /// The end of the background's pause.
    paused_until: AtomicU64,
}

impl CoreUsage {
    /// A core without events.
    pub const fn new() -> Self {
        Self {
            interval: AtomicU64::new(0),
            counted: AtomicU32::new(0),
            published: AtomicU64::new(0),
            paused_until: AtomicU64::new(0),
        }
    }

    /// Closes the current interval if `interval` is a later one, and publishes the core's events in
    /// it: the average, if several intervals passed.
    pub fn close_interval(&self, interval: u64, counter: u32) -> Option<u64> {
        let intervals = interval.checked_sub(self.interval.load(Relaxed));
        let intervals = intervals.filter(|&intervals| intervals > 0)?;
        self.interval.store(interval, Relaxed);
        let events = counter.wrapping_sub(self.counted.load(Relaxed));
        self.counted.store(counter, Relaxed);
        let own = u64::from(events) / intervals;
        self.published.store(own << 32 | interval & HALF, Relaxed);
        Some(own)
    }

    /// The events in the previous interval, or in the one before if the core has not closed the
    /// previous one; zero if that is longer ago.
    pub fn published(&self, interval: u64) -> u64 {
        let published = self.published.load(Relaxed);
        let age = (interval as u32).wrapping_sub(published as u32);
        match age {
            0 | 1 => published >> 32,
            _ => 0,
        }
    }

    /// Pauses the background until `time`, or longer if it is paused for longer already.
    pub fn pause_until(&self, time: u64) {
        self.paused_until.fetch_max(time, Relaxed);
    }

    /// The end of the background's pause.
    pub fn paused_until(&self) -> u64 {
        self.paused_until.load(Relaxed)
    }
}

/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    use super::CoreUsage;

    #[test]
    fn an_interval_is_closed_once() {
        let usage = CoreUsage::new();
        usage.close_interval(7, 1_000);
        assert_eq!(usage.close_interval(7, 1_500), None, "it is under way");
        assert_eq!(usage.close_interval(8, 1_800), Some(800));
        assert_eq!(usage.close_interval(12, 3_800), Some(500), "of four, each");
        assert_eq!(
            usage.close_interval(13, u32::MAX - 9),
            Some(u64::from(u32::MAX) - 3_809)
        );
        assert_eq!(usage.close_interval(14, 20), Some(30), "the counter wraps");
    }

    #[test]
    fn published_events_expire() {
        let usage = CoreUsage::new();
        usage.close_interval(7, 0);
        usage.close_interval(8, 300);
        assert_eq!(
            [8, 9, 10, 11].map(|now| usage.published(now)),
            [300, 300, 0, 0]
        );
    }

    #[test]
    fn the_longer_pause_applies() {
        let usage = CoreUsage::new();
        usage.pause_until(50);
        usage.pause_until(20);
        assert_eq!(usage.paused_until(), 50);
    }
}
