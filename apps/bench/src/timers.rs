//! Suite `timer`: starting, cancelling and expiring beside many others that are pending.

use crate::{phase, samples};
use core::hint::black_box;
use tenon::time::{self, Duration, Instant, Timer};

const MOST: usize = 10_000;
/// Of one instant, so that one interrupt expires them all.
const BATCH: usize = 8;

static PENDING: [Timer; MOST] = [const { Timer::new(nothing) }; MOST];
static FIRST: Timer = Timer::new(samples::begin);
static OTHERS: [Timer; BATCH - 1] = [const { Timer::new(expired) }; BATCH - 1];

fn nothing() {}

/// From one handler's end to the next one's start is an expiry.
fn expired() {
    samples::end();
    samples::begin();
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
}

/// Deadlines without an order, within a second.
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
        FIRST.start(soon);
        OTHERS.iter().for_each(|timer| timer.start(soon));
        time::sleep(Duration::from_micros(40));
    }
    report("expire", pending);
}

/// All of them within a second, many of them at once: no interrupt may take long.
fn longest(pending: usize) {
    let soon = Instant::now() + Duration::from_millis(5);
    for (number, timer) in PENDING.iter().enumerate().take(pending) {
        timer.start(soon + Duration::from_micros(number as u64 / 100));
    }
    time::sleep(Duration::from_millis(10));
    phase(format_args!(
        "timer masked_max pending={pending} mode=tickless"
    ));
}

fn report(name: &str, pending: usize) {
    samples::report(format_args!("timer {name} pending={pending} mode=tickless"));
}
