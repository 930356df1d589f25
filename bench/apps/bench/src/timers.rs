//! Suite `timer`: start, cancellation and expiry of timers beside many armed ones.

use crate::{phase, samples};
use core::hint::black_box;
use tenon::time::{self, Duration, Instant, PeriodicTimer, Timer};

const MOST: usize = 10_000;
/// Number of timers with the same deadline, which expire in one interrupt.
const BATCH: usize = 7;

/// Number of rounds in which all of them expire.
const ROUNDS: u64 = 8;
/// 2^20 ticks of the counter in ns. Rounds start at a multiple, so that the lower digits, by which
/// timers are sorted, are the same in every run.
const GRID: u64 = 1 << 24;
/// The same for longer rounds: 2^24 ticks.
const LARGE_GRID: u64 = 1 << 28;

static PENDING: [Timer; MOST] = [const { Timer::new(nothing) }; MOST];
/// First and last expiry, which are no samples: the first searches the queue, and the last has no
/// successor.
static ENDS: [Timer; 2] = [const { Timer::new(nothing) }; 2];
static FIRST: Timer = Timer::new(samples::begin);
static OTHERS: [Timer; BATCH - 3] = [const { Timer::new(expired) }; BATCH - 3];

static PERIODIC: [PeriodicTimer; 500] = [const { PeriodicTimer::new(nothing) }; 500];

fn nothing() {}

/// A sample of expiry is from the end of one handler to the start of the next.
fn expired() {
    samples::next();
}

pub fn run() {
    for pending in [1, 10, 100, 1_000, MOST] {
        let far = Instant::now() + Duration::from_secs(3_600);
        for (number, timer) in PENDING.iter().enumerate().take(pending) {
            timer.start(far + spread(number));
        }
        starts_and_cancels(pending, far);
        expiries(pending);
        PENDING.iter().for_each(|timer| {
            timer.cancel();
        });
        longest(pending);
    }
    for timers in [1, 10, 50, 100, 500] {
        periodic_load(timers);
    }
}

/// Pseudo-random deadlines within a second. Out of line, as its constants would otherwise be reloaded
/// after the measured calls.
#[inline(never)]
fn spread(number: usize) -> Duration {
    Duration::from_nanos((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000_000)
}

fn starts_and_cancels(pending: usize, far: Instant) {
    static TIMER: Timer = Timer::new(nothing);
    for number in 0..samples::COUNT {
        let deadline = black_box(far + spread(number + MOST));
        samples::begin();
        TIMER.start(deadline);
        samples::end();
        TIMER.cancel();
    }
    report("start", pending);
    for number in 0..samples::COUNT {
        TIMER.start(far + spread(number + MOST));
        samples::begin();
        TIMER.cancel();
        samples::end();
    }
    report("cancel", pending);
}

fn expiries(pending: usize) {
    while samples::wanted() {
        let soon = Instant::now() + Duration::from_micros(20);
        let [ahead, behind] = &ENDS;
        ahead.start(soon);
        FIRST.start(soon);
        OTHERS.iter().for_each(|timer| timer.start(soon));
        behind.start(soon);
        time::sleep(Duration::from_micros(40));
    }
    report("expire", pending);
}

/// All timers expire within 100 us, many at once, in many rounds: no interrupt may be long, whatever the
/// value of the counter.
fn longest(pending: usize) {
    for round in 0..ROUNDS {
        let soon = Instant::now() + Duration::from_millis(5);
        let soon = Instant::from_nanoseconds(soon.nanoseconds().next_multiple_of(GRID));
        let soon = soon + Duration::from_nanos(round * 1_234_567);
        for (number, timer) in PENDING.iter().enumerate().take(pending) {
            timer.start(soon + Duration::from_micros(number as u64 / 100));
        }
        time::sleep_until(soon + Duration::from_millis(1));
    }
    phase(format_args!("timer masked_max pending={pending}"));
}

/// Overhead of periodic timers: all instructions of interrupts within 100 ms, once each timer has
/// expired twice. The window starts and ends half a millisecond before a release.
fn periodic_load(timers: usize) {
    const PERIOD: Duration = Duration::from_millis(20);
    // Within two multiples of 2^24 ticks, so that the digits are the same in every run.
    let digits = (Instant::now().nanoseconds() / LARGE_GRID + 1) * LARGE_GRID;
    let first = Instant::from_nanoseconds(digits) + Duration::from_millis(5);
    time::sleep_until(first - Duration::from_millis(4));
    for (number, timer) in PERIODIC.iter().enumerate().take(timers) {
        timer.start(first + Duration::from_millis(number as u64 % 20), PERIOD);
    }
    let start = first + Duration::from_micros(39_500);
    while Instant::now() < start {}
    phase(format_args!("timer warm timers={timers}"));
    while Instant::now() < start + Duration::from_millis(100) {}
    phase(format_args!("timer periodic_load timers={timers}"));
    PERIODIC.iter().for_each(|timer| {
        timer.cancel();
    });
    // The hardware timer is still armed for the next one; it must not expire during another measurement.
    time::sleep(Duration::from_millis(2));
}

fn report(name: &str, pending: usize) {
    samples::report(format_args!("timer {name} pending={pending}"));
}
