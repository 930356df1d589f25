//! Ten thousand concurrent timers.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use support_cases::{Case, Failure, expect};
use tenon::time::{self, Duration, Instant, Timer};

pub const CASES: &[Case] = &[("ten thousand timers expire once each", all_expire)];

const TIMERS: usize = 10_000;
/// Distance of two deadlines.
const STEP: Duration = Duration::from_micros(5);
/// Of three timers with successive deadlines the first is cancelled, and the second is restarted behind
/// all others.
const KEPT: usize = TIMERS / 3;

static CROWD: [Timer; TIMERS] = [const { Timer::new(expired) }; TIMERS];
static FIRST_NS: AtomicU64 = AtomicU64::new(0);
static EXPIRED: AtomicUsize = AtomicUsize::new(0);
static EARLY: AtomicUsize = AtomicUsize::new(0);

/// The deadline at a position in the order of expiry.
fn deadline(place: usize) -> Instant {
    Instant::from_nanoseconds(FIRST_NS.load(Relaxed)) + STEP * place as u32
}

/// Handler of every timer: its deadline may not be earlier than that of the last expired one.
fn expired() {
    let count = EXPIRED.fetch_add(1, Relaxed);
    let place = match count.checked_sub(KEPT) {
        None => 3 * count + 2,
        Some(anew) => TIMERS + 3 * anew + 1,
    };
    if Instant::now() < deadline(place) {
        EARLY.fetch_add(1, Relaxed);
    }
}

fn all_expire() -> Result<(), Failure> {
    let first = Instant::now() + Duration::from_millis(300);
    FIRST_NS.store(first.nanoseconds(), Relaxed);
    EXPIRED.store(0, Relaxed);
    EARLY.store(0, Relaxed);
    // A permutation: the factor is coprime to the number of timers.
    let places = || (0..TIMERS).map(|number| number * 7_919 % TIMERS);
    for (timer, place) in CROWD.iter().zip(places()) {
        timer.start(deadline(place));
    }
    let mut pending = 0;
    for (timer, place) in CROWD.iter().zip(places()) {
        match place % 3 {
            0 => pending += usize::from(timer.cancel()),
            1 => timer.start(deadline(TIMERS + place)),
            _ => {}
        }
    }
    let prepared = Instant::now();
    expect(prepared < first, "them to be started in time", 0)?;
    expect(pending == TIMERS - 2 * KEPT, "all pending", pending as u64)?;
    time::sleep_until(deadline(2 * TIMERS) + Duration::from_millis(50));
    let (expired, early) = (EXPIRED.load(Relaxed), EARLY.load(Relaxed));
    expect(expired == 2 * KEPT, "each once, none lost", expired as u64)?;
    expect(early == 0, "none early", early as u64)
}
