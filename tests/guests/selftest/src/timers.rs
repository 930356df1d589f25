//! Sleeps, timers and periodic tasks.

use crate::Trail;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use support_cases::{Case, Failure, expect};
use tenon::periodic::Task;
use tenon::time::{self, Duration, Instant, PeriodicTimer, Timer};

pub const CASES: &[Case] = &[
    ("time goes on", time_goes_on),
    ("a sleep is never short", sleep_is_never_short),
    ("an instant that passed is no wait", past_is_no_wait),
    ("timers expire in order", timers_in_order),
    ("a cancelled timer stays silent", cancelled_is_silent),
    ("a periodic timer does not drift", periodic_without_drift),
    ("releases that passed are counted", periodic_overruns),
    ("a periodic timer can stop itself", periodic_stops_itself),
    ("every release runs once, in order", releases_in_order),
    ("an overrun is caught up", overrun_is_caught_up),
];

static TRAIL: Trail = Trail::new();
static TIMERS: [Timer; 3] = [
    Timer::new(|| TRAIL.note(1)),
    Timer::new(|| TRAIL.note(2)),
    Timer::new(|| TRAIL.note(3)),
];

fn time_goes_on() -> Result<(), Failure> {
    let start = Instant::now();
    let mut last = start;
    while last.since(start) < Duration::from_micros(50) {
        let now = Instant::now();
        expect(now >= last, "no step back", now.nanoseconds())?;
        last = now;
    }
    Ok(())
}

fn sleep_is_never_short() -> Result<(), Failure> {
    for microseconds in [1, 3, 17, 100, 999, 1_000, 5_000] {
        let end = Instant::now() + Duration::from_micros(microseconds);
        time::sleep_until(end);
        let now = Instant::now();
        expect(
            now >= end,
            "the whole sleep",
            end.since(now).subsec_nanos().into(),
        )?;
    }
    Ok(())
}

fn past_is_no_wait() -> Result<(), Failure> {
    time::sleep_until(Instant::from_nanoseconds(0));
    time::sleep(Duration::ZERO);
    Ok(())
}

fn timers_in_order() -> Result<(), Failure> {
    let now = Instant::now();
    // Far enough ahead for a busy host to start all of them in time.
    for (timer, milliseconds) in TIMERS.iter().zip([35, 15, 25]) {
        timer.start(now + Duration::from_millis(milliseconds));
    }
    time::sleep(Duration::from_millis(50));
    TRAIL.expect(231, "the order of the deadlines")
}

fn cancelled_is_silent() -> Result<(), Failure> {
    let now = Instant::now();
    for (timer, microseconds) in TIMERS.iter().zip([2_000, 2_500, 3_000]) {
        timer.start(now + Duration::from_micros(microseconds));
    }
    let [_, second, _] = &TIMERS;
    expect(second.cancel(), "it to be pending", 0)?;
    expect(!second.cancel(), "it not to be pending any more", 0)?;
    time::sleep(Duration::from_millis(4));
    TRAIL.expect(13, "the others only")
}

static PERIODIC: PeriodicTimer = PeriodicTimer::new(|| {
    LAST.store(Instant::now().nanoseconds(), Relaxed);
    if RELEASES.fetch_add(1, Relaxed) + 1 == STOP.load(Relaxed) {
        PERIODIC.cancel();
    }
});
static RELEASES: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

/// Starts the periodic timer at an instant some milliseconds ahead; returns that instant.
fn start_periodic(period: Duration, stop: u64) -> Instant {
    RELEASES.store(0, Relaxed);
    STOP.store(stop, Relaxed);
    let first = Instant::now() + Duration::from_millis(5);
    PERIODIC.start(first, period);
    first
}

fn periodic_without_drift() -> Result<(), Failure> {
    // Not a multiple of the tick: rounding up each period would add 10 ticks of 16 ns instead of 1.
    const PERIOD: Duration = Duration::from_nanos(999_999);
    let first = start_periodic(PERIOD, 11);
    let end = first + 10 * PERIOD;
    time::sleep_until(end + Duration::from_millis(2));
    let (releases, last) = (RELEASES.load(Relaxed), LAST.load(Relaxed));
    // On a busy host releases may be late or skipped, but not early.
    expect(
        releases + PERIODIC.overruns() >= 11,
        "eleven releases",
        releases,
    )?;
    PERIODIC.cancel();
    expect(last >= end.nanoseconds(), "the last one not early", last)
}

fn periodic_overruns() -> Result<(), Failure> {
    const PERIOD: Duration = Duration::from_millis(1);
    static BLOCKER: Timer = Timer::new(|| {
        let end = Instant::now() + Duration::from_micros(4_500);
        while Instant::now() < end {}
    });
    let first = start_periodic(PERIOD, 0);
    // Masks the timer's interrupt over four or five releases, however late it starts.
    BLOCKER.start(first - Duration::from_micros(200));
    time::sleep_until(first + Duration::from_micros(9_500));
    PERIODIC.cancel();
    let (releases, overruns) = (RELEASES.load(Relaxed), PERIODIC.overruns());
    expect(overruns >= 3, "three releases to be left out", overruns)?;
    let all = releases + overruns;
    expect(all >= 10, "all releases to be served or counted", all)
}

fn periodic_stops_itself() -> Result<(), Failure> {
    let first = start_periodic(Duration::from_micros(500), 3);
    time::sleep_until(first + Duration::from_millis(5));
    expect(!PERIODIC.cancel(), "it not to be pending", 0)?;
    let releases = RELEASES.load(Relaxed);
    expect(releases == 3, "three releases", releases)
}

/// Runs ten releases, one with a body longer than three periods, and checks each sample.
fn releases(overrun: bool) -> Result<(), Failure> {
    const PERIOD: u64 = 1_000_000;
    let mut first = None;
    let mut outcome = Ok(());
    let mut next = 0;
    Task::new("selftest", Duration::from_nanos(PERIOD)).run_while(
        |sample| {
            let start = *first.get_or_insert(sample.release_ns);
            let due = start + sample.sequence * PERIOD;
            let right =
                sample.sequence == next && sample.release_ns == due && sample.begin_ns >= due;
            if !right && outcome.is_ok() {
                outcome = expect(false, "the next release, not early", sample.sequence);
            }
            next += 1;
            if overrun && sample.sequence == 4 {
                let end = Instant::now() + Duration::from_nanos(3 * PERIOD + PERIOD / 2);
                while Instant::now() < end {}
            }
        },
        |sample| sample.sequence < 9,
    );
    outcome?;
    expect(next == 10, "ten bodies", next)
}

fn releases_in_order() -> Result<(), Failure> {
    releases(false)
}

fn overrun_is_caught_up() -> Result<(), Failure> {
    releases(true)
}
