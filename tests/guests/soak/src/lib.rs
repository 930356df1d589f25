//! Releases for hours on end, each one judged.
//!
//! A thread that sleeps until each of a row of absolute instants and a periodic timer of the same
//! row go side by side, at 1 kHz for ten minutes and at 10 Hz for a day. At each release the
//! timer must have expired exactly as often as the thread was woken; what is lost, early or late is
//! counted. A line at each power of ten of releases says how it stands, so that a short run can
//! end there; `./tenon test --soak` reads them.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration, Instant, PeriodicTimer};

/// A rate, and how many releases it soaks for.
#[derive(Clone, Copy)]
struct Rate {
    hertz: u64,
    releases: u64,
    /// The two meet at no instant: neither is late for the other one's sake.
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
/// How many rates are not through yet.
static SOAKING: AtomicUsize = AtomicUsize::new(2);

fn count(expiries: &AtomicU64) {
    expiries.fetch_add(1, Relaxed);
}

/// The main thread: starts both and ends.
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

/// Releases whose least lateness is taken: what one release is late varies with what else its
/// interrupt has to do, but if instants drifted, all of them would.
const STRETCH: u64 = 100;

/// What was seen of a rate so far.
struct Seen {
    lost: u64,
    early: u64,
    /// The least lateness of the first stretch.
    first: u64,
    /// That of the present stretch.
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

    /// Judges release `number`, to which its thread awoke `now`.
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

    /// By how much the releases have moved since the first ones.
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
