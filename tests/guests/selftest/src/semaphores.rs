//! Semaphores: wake-up order, time-outs, use from handlers.

use crate::Trail;
use crate::threads::{A, B, C, failed};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use support_cases::{Case, Failure, expect};
use tenon::sync::{Error, Semaphore};
use tenon::thread::{relative_priority, without_preemption};
use tenon::time::{self, Duration, Instant, Timer};

pub const CASES: &[Case] = &[
    ("a semaphore counts", counts),
    ("the most urgent gets the next unit", urgent_first),
    ("a change of priority changes the turn", turn_changes),
    ("a wait ends with its time", wait_ends),
    ("a timeout stands whatever follows", timeout_stands),
    ("a handler gives", handler_gives),
];

static TRAIL: Trail = Trail::new();

fn counts() -> Result<(), Failure> {
    static SEMAPHORE: Semaphore = Semaphore::bounded(1, 2);
    SEMAPHORE.take();
    expect(!SEMAPHORE.try_take(), "no unit", 0)?;
    let given = [0; 3].map(|_| SEMAPHORE.give());
    let right = [Ok(()), Ok(()), Err(Error::Full)];
    expect(given == right, "two units and no third", 0)?;
    let taken = [0; 3].map(|_| SEMAPHORE.try_take());
    expect(taken == [true, true, false], "two units", 0)
}

fn urgent_first() -> Result<(), Failure> {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    for (number, storage, difference) in [(1, &A, 1), (2, &B, 2), (3, &C, 1)] {
        let waits = move || {
            SEMAPHORE.take();
            TRAIL.note(number);
        };
        storage
            .spawn("waits", relative_priority(difference), waits)
            .map_err(failed)?;
    }
    for _ in 0..3 {
        TRAIL.note(4);
        // No thread has taken it before this one continues.
        let _ = SEMAPHORE.give();
    }
    expect(!SEMAPHORE.try_take(), "each unit with a waiter", 0)?;
    TRAIL.expect(424_143, "turns by urgency, then in order")
}

fn turn_changes() -> Result<(), Failure> {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    let mut threads = [None; 2];
    for (thread, (number, storage)) in threads.iter_mut().zip([(1, &A), (2, &B)]) {
        let waits = move || {
            SEMAPHORE.take();
            TRAIL.note(number);
        };
        *thread = Some(
            storage
                .spawn("waits", relative_priority(1), waits)
                .map_err(failed)?,
        );
    }
    if let [_, Some(second)] = threads {
        second.set_priority(relative_priority(2)).map_err(failed)?;
    }
    let _ = SEMAPHORE.give();
    let _ = SEMAPHORE.give();
    TRAIL.expect(21, "the raised one first")
}

fn wait_ends() -> Result<(), Failure> {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    let end = Instant::now() + Duration::from_micros(300);
    expect(
        SEMAPHORE.take_until(end) == Err(Error::TimedOut),
        "no unit",
        0,
    )?;
    expect(Instant::now() >= end, "the whole wait", 0)?;
    expect(
        SEMAPHORE.take_until(end) == Err(Error::TimedOut),
        "no wait for what passed",
        1,
    )?;
    // A wait that timed out does not take a later unit.
    let _ = SEMAPHORE.give();
    expect(SEMAPHORE.try_take(), "the unit still there", 0)
}

fn timeout_stands() -> Result<(), Failure> {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    static PASSED: AtomicBool = AtomicBool::new(false);
    static LATER: Timer = Timer::new(|| PASSED.store(true, Relaxed));
    // Far enough ahead for a host that stalls before the wait.
    let end = Instant::now() + Duration::from_millis(20);
    let waits = move || {
        let late = SEMAPHORE.take_until(end) == Err(Error::TimedOut);
        TRAIL.note(if late { 1 } else { 9 });
    };
    let thread = A
        .spawn("waits", relative_priority(1), waits)
        .map_err(failed)?;
    // It has timed out; before it runs, its priority changes and a unit is given.
    LATER.start(end + Duration::from_micros(1));
    without_preemption(|| {
        // However late a busy host raises the interrupt, earlier time-outs have expired by then.
        while !PASSED.load(Relaxed) {
            core::hint::spin_loop();
        }
        let changed = thread.set_priority(relative_priority(2)).map_err(failed);
        let _ = SEMAPHORE.give();
        TRAIL.note(2);
        changed
    })?;
    TRAIL.expect(21, "the time over before the unit")?;
    expect(SEMAPHORE.try_take(), "the unit still there", 0)
}

fn handler_gives() -> Result<(), Failure> {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    static GIVER: Timer = Timer::new(|| {
        let _ = SEMAPHORE.give();
    });
    let now = Instant::now();
    GIVER.start(now + Duration::from_micros(200));
    let given = SEMAPHORE.take_until(now + Duration::from_millis(50));
    expect(given == Ok(()), "the handler's unit", 0)?;
    // The timer of an earlier wait does not end a later one.
    time::sleep_until(now + Duration::from_millis(100));
    let late = Instant::now() >= now + Duration::from_millis(100);
    expect(late, "the whole sleep", 0)
}
