//! Thread handles: live, ended, and with reused storage.

use crate::Trail;
use crate::threads::{A, B, C, failed};
use support_cases::{Case, Failure, expect};
use tenon::thread::{self, Error, relative_priority};
use tenon::time::{self, Duration, Instant};

pub const CASES: &[Case] = &[
    ("a thread is waited for", waited_for),
    ("an ended thread has its storage free", storage_free),
    ("a stale handle changes nothing", stale_handle),
    ("a wait for an end ends with its time", join_ends),
    ("no thread waits for its own end", own_end),
];

static TRAIL: Trail = Trail::new();

fn waited_for() -> Result<(), Failure> {
    let slow = || {
        time::sleep(Duration::from_millis(2));
        TRAIL.note(1);
    };
    let slow = A
        .spawn("slow", relative_priority(-1), slow)
        .map_err(failed)?;
    for (number, storage, difference) in [(3, &B, 1), (2, &C, 2)] {
        let joins = move || TRAIL.note(if slow.join().is_ok() { number } else { 0 });
        let spawned = storage.spawn("joins", relative_priority(difference), joins);
        spawned.map_err(failed)?;
    }
    expect(!slow.has_ended(), "it to live", 0)?;
    slow.join().map_err(failed)?;
    TRAIL.note(4);
    expect(slow.has_ended(), "it to have ended", 0)?;
    slow.join().map_err(failed)?;
    TRAIL.expect(1_234, "all who join, by urgency")
}

fn storage_free() -> Result<(), Failure> {
    for _ in 0..3 {
        let thread = A.spawn("thread", relative_priority(1), || TRAIL.note(1));
        thread.and_then(|thread| thread.join()).map_err(failed)?;
    }
    TRAIL.expect(111, "three lives")
}

fn stale_handle() -> Result<(), Failure> {
    let first = A
        .spawn("first", relative_priority(1), || {})
        .map_err(failed)?;
    let parks = || {
        thread::park();
        TRAIL.note(1);
    };
    let second = A
        .spawn("second", relative_priority(1), parks)
        .map_err(failed)?;
    expect(first.unpark() == Err(Error::Ended), "no unpark", 0)?;
    let changed = first.set_priority(relative_priority(2));
    expect(changed == Err(Error::Ended), "no change of priority", 0)?;
    expect(first.priority() == Err(Error::Ended), "no priority", 0)?;
    expect(first.join() == Ok(()), "no wait", 0)?;
    let own = second.priority();
    expect(own == Ok(relative_priority(1)), "the second as it was", 0)?;
    TRAIL.expect(0, "the second parked")?;
    second.unpark().map_err(failed)?;
    TRAIL.expect(1, "the second unparked")
}

fn join_ends() -> Result<(), Failure> {
    let parked = A.spawn("parked", relative_priority(1), thread::park);
    let parked = parked.map_err(failed)?;
    let end = Instant::now() + Duration::from_millis(2);
    let late = parked.join_until(end);
    expect(late == Err(Error::TimedOut), "no end", 0)?;
    expect(Instant::now() >= end, "the whole wait", 0)?;
    parked.unpark().map_err(failed)?;
    parked.join_until(end).map_err(failed)
}

fn own_end() -> Result<(), Failure> {
    let own = thread::current().handle();
    expect(own.join() == Err(Error::Deadlock), "a refusal", 0)
}
