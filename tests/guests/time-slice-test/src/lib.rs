//! Self-test of round-robin scheduling with time slices, and of cooperative scheduling.
//!
//! An image with time slices tests slices; a cooperative one tests that no thread is preempted. Each case
//! prints a line, `ok` or `FAILED`; the last line has the totals.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use support_cases::{Case, Failure, ensure, run};
use tenon::thread::{self, PreemptionLock, Storage, relative_priority};
use tenon::time::{self, Duration, Instant, Timer};
use tenon_thread::options;

const SLICES: &[Case] = &[
    ("peers take turns in order, as long as each other", in_order),
    ("a preempted thread goes on with its turn", rest_of_turn),
    ("who runs until it waits is not interrupted", without_slices),
    (
        "a turn that ends under a lock ends with it",
        turn_under_lock,
    ),
];

const COOPERATIVE: &[Case] = &[
    ("a more urgent thread waits for a yield", yield_lets_run),
    ("a handler runs, whom it wakes waits", woken_waits),
    ("who sleeps wakes when nobody else runs", alone_wakes),
];

static STORAGES: [Storage<4096>; 3] = [const { Storage::new() }; 3];
/// The thread that ran last, and the number of switches.
static LAST: AtomicUsize = AtomicUsize::new(usize::MAX);
static CHANGES: AtomicU32 = AtomicU32::new(0);
static OUT_OF_TURN: AtomicU32 = AtomicU32::new(0);

/// Main thread: runs all cases.
pub fn main() {
    let slices = if options::slice() == 0 { &[] } else { SLICES };
    let cooperative = if options::preemption() {
        &[]
    } else {
        COOPERATIVE
    };
    run("time-slice-test", slices.iter().chain(cooperative));
}

fn slice() -> Duration {
    Duration::from_micros(options::slice() as u64)
}

/// Runs this many busy threads of main's priority, numbered from 0, until `end`.
fn busy_peers(peers: usize, end: Instant) -> Result<(), Failure> {
    LAST.store(usize::MAX, Relaxed);
    CHANGES.store(0, Relaxed);
    OUT_OF_TURN.store(0, Relaxed);
    for (number, storage) in STORAGES.iter().enumerate().take(peers) {
        let body = move || {
            while Instant::now() < end {
                let last = LAST.swap(number, Relaxed);
                // Its predecessor may have ended, which is not out of turn.
                if Instant::now() < end {
                    judge(last, number, peers);
                }
            }
        };
        let spawned = storage.spawn("busy", relative_priority(-1), body);
        spawned.map_err(|_| "a new thread")?;
    }
    Ok(())
}

/// Records the running thread: it must be the last one or its successor.
fn note(number: usize, peers: usize) {
    judge(LAST.swap(number, Relaxed), number, peers);
}

/// Counts the switch from the thread that ran last, if it is one.
fn judge(last: usize, number: usize, peers: usize) {
    if last != number {
        CHANGES.fetch_add(1, Relaxed);
        if last != usize::MAX && (last + 1) % peers != number {
            OUT_OF_TURN.fetch_add(1, Relaxed);
        }
    }
}

fn in_order() -> Result<(), Failure> {
    let end = Instant::now() + slice() * 30;
    busy_peers(3, end)?;
    time::sleep_until(end + slice() * 4);
    ensure(OUT_OF_TURN.load(Relaxed) == 0, "each in its turn")?;
    // Thirty, minus some on a busy host.
    let changes = CHANGES.load(Relaxed);
    ensure((10..=32).contains(&changes), "a change with each slice")
}

/// Preempted more often than once per slice: its slice would never end if each preemption renewed it.
fn rest_of_turn() -> Result<(), Failure> {
    let end = Instant::now() + slice() * 30;
    busy_peers(2, end)?;
    while Instant::now() < end + slice() * 4 {
        time::sleep(slice() / 3);
    }
    ensure(OUT_OF_TURN.load(Relaxed) == 0, "each in its turn")?;
    let changes = CHANGES.load(Relaxed);
    ensure((8..=32).contains(&changes), "slices as long as before")
}

fn without_slices() -> Result<(), Failure> {
    let end = Instant::now() + slice() * 10;
    let body = move || {
        thread::current().set_slicing(false);
        while Instant::now() < end {
            note(0, 2);
        }
    };
    LAST.store(usize::MAX, Relaxed);
    CHANGES.store(0, Relaxed);
    let [first, second, _] = &STORAGES;
    let spawned = first.spawn("busy", relative_priority(-1), body);
    spawned.map_err(|_| "a new thread")?;
    let spawned = second.spawn("peer", relative_priority(-1), || note(1, 2));
    spawned.map_err(|_| "a new thread")?;
    time::sleep_until(end + slice());
    let changes = CHANGES.load(Relaxed);
    ensure(changes == 2, "one after the other")
}

fn turn_under_lock() -> Result<(), Failure> {
    LAST.store(usize::MAX, Relaxed);
    CHANGES.store(0, Relaxed);
    let spawned = STORAGES[0].spawn("peer", relative_priority(0), || note(0, 2));
    spawned.map_err(|_| "a new thread")?;
    let (outer, inner) = (PreemptionLock::new(), PreemptionLock::new());
    let end = Instant::now() + slice() * 3;
    while Instant::now() < end {}
    drop(outer);
    ensure(CHANGES.load(Relaxed) == 0, "nobody else under the lock")?;
    drop(inner);
    ensure(CHANGES.load(Relaxed) == 1, "the peer right afterwards")
}

fn yield_lets_run() -> Result<(), Failure> {
    LAST.store(usize::MAX, Relaxed);
    let spawned = STORAGES[0].spawn("urgent", relative_priority(1), || note(0, 2));
    spawned.map_err(|_| "a new thread")?;
    ensure(LAST.load(Relaxed) == usize::MAX, "main to go on")?;
    thread::yield_now();
    ensure(LAST.load(Relaxed) == 0, "the other one to have run")
}

fn woken_waits() -> Result<(), Failure> {
    static CALLED: AtomicU32 = AtomicU32::new(0);
    static TIMER: Timer = Timer::new(|| {
        CALLED.fetch_add(1, Relaxed);
    });
    LAST.store(usize::MAX, Relaxed);
    let begin = Instant::now();
    let body = move || {
        time::sleep_until(begin + Duration::from_millis(20));
        note(0, 2);
    };
    let spawned = STORAGES[0].spawn("urgent", relative_priority(1), body);
    spawned.map_err(|_| "a new thread")?;
    thread::yield_now();
    TIMER.start(begin + Duration::from_millis(20));
    while Instant::now() < begin + Duration::from_millis(50) {}
    ensure(CALLED.load(Relaxed) == 1, "the handler at once")?;
    ensure(LAST.load(Relaxed) == usize::MAX, "the woken one to wait")?;
    thread::yield_now();
    ensure(LAST.load(Relaxed) == 0, "the woken one to have run")
}

/// The idle thread, which never yields, must be preempted.
fn alone_wakes() -> Result<(), Failure> {
    let end = Instant::now() + Duration::from_millis(1);
    time::sleep_until(end);
    ensure(Instant::now() >= end, "the time to be over")
}
