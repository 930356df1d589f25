//! Soak test: releases over hours, each of them checked.
//!
//! A thread that sleeps until a sequence of absolute times runs beside a periodic timer with the same
//! sequence, at 1 kHz for ten minutes and at 10 Hz for a day. At each release the timer must have expired
//! as often as the thread was woken; lost, early and late releases are counted. A line at each power of
//! ten of releases has the totals, so that a short run can end there; `./tenon test --soak` reads them.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration, Instant, PeriodicTimer};

/// A rate and its number of releases.
#[derive(Clone, Copy)]
struct Rate {
    hertz: u64,
    releases: u64,
    /// Offset of the two rates: they never release at the same instant, so that neither delays the other.
    phase: Duration,
}

const FAST: Rate = Rate {
    hertz: 1_000,
    releases: 10 * 60 * 1_000,
    phase: Duration::ZERO,
};
const SLOW: Rate = Rate {
    hertz: 10,
    releases: 24 * 60 * 60 * 10,
    phase: Duration::from_micros(370),
};

static FAST_TIMER: PeriodicTimer = PeriodicTimer::new(|| count(&FAST_EXPIRIES));
static FAST_EXPIRIES: AtomicU64 = AtomicU64::new(0);
static SLOW_TIMER: PeriodicTimer = PeriodicTimer::new(|| count(&SLOW_EXPIRIES));
static SLOW_EXPIRIES: AtomicU64 = AtomicU64::new(0);

static FAST_THREAD: Storage<8192> = Storage::new();
static SLOW_THREAD: Storage<8192> = Storage::new();
/// Number of unfinished rates.
static SOAKING: AtomicUsize = AtomicUsize::new(2);

fn count(expiries: &AtomicU64) {
    expiries.fetch_add(1, Relaxed);
}

/// Main thread: starts both rates and ends.
pub fn main() {
    let start = Instant::now() + Duration::from_millis(100);
    let fast = FAST_THREAD.spawn("fast", Priority::new(30), move || {
        soak(FAST, start, &FAST_TIMER, &FAST_EXPIRIES);
    });
    let slow = SLOW_THREAD.spawn("slow", Priority::new(20), move || {
        soak(SLOW, start, &SLOW_TIMER, &SLOW_EXPIRIES);
    });
    if let Err(error) = fast.and(slow) {
        tenon::log::error!("no thread: {error}");
    }
}

/// Releases per minimum of latency. The latency of one release varies with other work of its interrupt,
/// but a drift of the release times would affect all of them.
const STRETCH: u64 = 100;

/// Statistics of a rate.
struct Seen {
    lost: u64,
    early: u64,
    /// Minimum latency of the first window.
    first: u64,
    /// Minimum latency of the current window.
    present: u64,
    least: u64,
    most: u64,
}

impl Seen {
    const fn new() -> Self {
        Self {
            lost: 0,
            early: 0,
            first: u64::MAX,
            present: u64::MAX,
            least: u64::MAX,
            most: 0,
        }
    }

    /// Checks release `number` of a thread that woke up at `now`.
    fn judge(&mut self, number: u64, release: Instant, now: Instant, expiries: u64) {
        self.early += u64::from(now < release);
        self.lost += (number + 1).abs_diff(expiries);
        let late = now.nanoseconds().saturating_sub(release.nanoseconds());
        if number.is_multiple_of(STRETCH) {
            self.present = u64::MAX;
        }
        self.present = self.present.min(late);
        if number < STRETCH {
            self.first = self.present;
        }
        self.least = self.least.min(late);
        self.most = self.most.max(late);
    }

    /// Drift of the releases since the first window.
    fn drift(&self) -> i64 {
        self.present as i64 - self.first as i64
    }
}

fn soak(rate: Rate, start: Instant, timer: &'static PeriodicTimer, expiries: &AtomicU64) {
    let period = Duration::from_secs(1) / rate.hertz as u32;
    let mut release = start + rate.phase;
    timer.start(release, period);
    let mut seen = Seen::new();
    let mut checkpoint = STRETCH;
    for number in 0..rate.releases {
        time::sleep_until(release);
        let now = Instant::now();
        seen.judge(number, release, now, expiries.load(Relaxed));
        let done = number + 1;
        if done == checkpoint || done == rate.releases {
            tenon::log::info!(
                "soak hertz={} releases={done} lost={} early={} left_out={} drift_ns={} late_ns={}..{}",
                rate.hertz,
                seen.lost,
                seen.early,
                timer.overruns(),
                seen.drift(),
                seen.least,
                seen.most,
            );
            checkpoint *= 10;
        }
        release = release + period;
    }
    timer.cancel();
    if SOAKING.fetch_sub(1, Relaxed) == 1 {
        tenon::log::info!("end of soak");
    }
}
