//! What one core caused.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// A core's account. Its core writes it; others read what it [told](Account::told).
pub struct Account {
    /// The interval that is under way, and the counter when it began.
    interval: AtomicU64,
    counted: AtomicU32,
    /// What it caused in an interval before, and the lower half of the number of the one after that.
    told: AtomicU64,
    /// Until when its background waits.
    resume: AtomicU64,
}

impl Account {
    /// A core that has caused nothing.
    pub const fn new() -> Self {
        Self {
            interval: AtomicU64::new(0),
            counted: AtomicU32::new(0),
            told: AtomicU64::new(0),
            resume: AtomicU64::new(0),
        }
    }

    /// Closes the interval that was under way, if another one is, and tells what the core caused in
    /// it; on average, if there were several.
    pub fn close(&self, interval: u64, counter: u32) -> Option<u64> {
        let intervals = interval.checked_sub(self.interval.load(Relaxed));
        let intervals = intervals.filter(|&intervals| intervals > 0)?;
        self.interval.store(interval, Relaxed);
        let events = counter.wrapping_sub(self.counted.load(Relaxed));
        self.counted.store(counter, Relaxed);
        let own = u64::from(events) / intervals;
        self.told.store(own << 32 | interval & HALF, Relaxed);
        Some(own)
    }

    /// What it caused in the interval before this one, if it has come so far, or in the one before
    /// that; nothing if that is longer ago.
    pub fn told(&self, interval: u64) -> u64 {
        let told = self.told.load(Relaxed);
        let age = (interval as u32).wrapping_sub(told as u32);
        match age {
            0 | 1 => told >> 32,
            _ => 0,
        }
    }

    /// Has its background wait until then, if it does not wait for longer.
    pub fn wait_until(&self, time: u64) {
        self.resume.fetch_max(time, Relaxed);
    }

    /// Until when its background waits.
    pub fn waits_until(&self) -> u64 {
        self.resume.load(Relaxed)
    }
}

/// The lower half.
const HALF: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    use super::Account;

    #[test]
    fn an_interval_is_closed_once() {
        let account = Account::new();
        account.close(7, 1_000);
        assert_eq!(account.close(7, 1_500), None, "it is under way");
        assert_eq!(account.close(8, 1_800), Some(800));
        assert_eq!(account.close(12, 3_800), Some(500), "of four, each");
        assert_eq!(
            account.close(13, u32::MAX - 9),
            Some(u64::from(u32::MAX) - 3_809)
        );
        assert_eq!(account.close(14, 20), Some(30), "the counter wraps");
    }

    #[test]
    fn what_is_told_ages() {
        let account = Account::new();
        account.close(7, 0);
        account.close(8, 300);
        assert_eq!(
            [8, 9, 10, 11].map(|now| account.told(now)),
            [300, 300, 0, 0]
        );
    }

    #[test]
    fn the_longer_wait_counts() {
        let account = Account::new();
        account.wait_until(50);
        account.wait_until(20);
        assert_eq!(account.waits_until(), 50);
    }
}
