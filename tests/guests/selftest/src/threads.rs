//! Threads: order, preemption, blocking.

use crate::Trail;
use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};
use support_cases::{Case, Failure, expect};
use tenon::thread::{self, Error, Storage, relative_priority};
use tenon::time::{self, Duration};

pub const CASES: &[Case] = &[
    ("a more urgent thread runs at once", urgent_first),
    ("peers take turns in order", peers_in_order),
    ("a less urgent thread waits", less_urgent_waits),
    ("an unpark before the park is kept", unpark_is_kept),
    ("an interrupt preempts a busy thread", interrupt_preempts),
    ("registers survive preemption", registers_survive),
    ("without preemption nobody comes between", nobody_between),
    ("a change of priority takes effect", priority_changes),
    ("storage is free when its thread ends", storage_is_free),
    ("a thread takes its closure along", closure_is_taken),
];

pub static A: Storage<4096> = Storage::new();
pub static B: Storage<4096> = Storage::new();
pub static C: Storage<4096> = Storage::new();
static TRAIL: Trail = Trail::new();

pub fn failed(_: Error) -> Failure {
    "a new thread".into()
}

fn urgent_first() -> Result<(), Failure> {
    A.spawn("a", relative_priority(1), || TRAIL.note(1))
        .map_err(failed)?;
    TRAIL.note(2);
    TRAIL.expect(12, "the new thread first")
}

fn peers_in_order() -> Result<(), Failure> {
    for (number, storage) in [(1, &A), (2, &B), (3, &C)] {
        let turns = move || {
            for _ in 0..3 {
                TRAIL.note(number);
                thread::yield_now();
            }
        };
        storage
            .spawn("peer", relative_priority(0), turns)
            .map_err(failed)?;
    }
    for _ in 0..4 {
        thread::yield_now();
    }
    TRAIL.expect(123_123_123, "three rounds in order")
}

fn less_urgent_waits() -> Result<(), Failure> {
    let main = thread::current();
    let other = move || {
        TRAIL.note(1);
        main.unpark();
    };
    let other = A
        .spawn("other", relative_priority(-1), other)
        .map_err(failed)?;
    TRAIL.note(2);
    thread::yield_now();
    TRAIL.note(3);
    thread::park();
    TRAIL.note(4);
    // The other thread is about to end, but has not ended yet.
    other.join().map_err(failed)?;
    TRAIL.expect(2_314, "the other only while this one waited")
}

fn unpark_is_kept() -> Result<(), Failure> {
    let parker = || {
        TRAIL.note(1);
        thread::park();
        TRAIL.note(2);
        thread::park();
        TRAIL.note(3);
    };
    let parker = A
        .spawn("parker", relative_priority(1), parker)
        .map_err(failed)?;
    TRAIL.note(4);
    parker.unpark().map_err(failed)?;
    TRAIL.note(5);
    parker.unpark().map_err(failed)?;
    thread::current().unpark();
    thread::park();
    TRAIL.expect(14_253, "each park to end with its unpark")
}

fn interrupt_preempts() -> Result<(), Failure> {
    static CAME: AtomicBool = AtomicBool::new(false);
    CAME.store(false, Ordering::Relaxed);
    let waker = || {
        time::sleep(Duration::from_micros(200));
        CAME.store(true, Ordering::Relaxed);
    };
    let waker = A
        .spawn("waker", relative_priority(1), waker)
        .map_err(failed)?;
    let end = time::Instant::now() + Duration::from_millis(200);
    while !CAME.load(Ordering::Relaxed) {
        if time::Instant::now() > end {
            return expect(false, "the sleeper to take the core", 0);
        }
    }
    waker.join().map_err(failed)
}

/// Twelve changing values in registers; the result depends on each step of each value.
fn mix(rounds: u64) -> u64 {
    let mut state: [u64; 12] = core::array::from_fn(|index| index as u64 + 1);
    for round in 0..rounds {
        for value in &mut state {
            *value = value.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ round;
        }
    }
    state
        .into_iter()
        .fold(0, |sum, value| sum.rotate_left(1) ^ value)
}

fn registers_survive() -> Result<(), Failure> {
    static STOP: AtomicBool = AtomicBool::new(false);
    let rounds = black_box(100_000);
    let undisturbed = mix(rounds);
    STOP.store(false, Ordering::Relaxed);
    let disturber = || {
        while !STOP.load(Ordering::Relaxed) {
            black_box(mix(black_box(3)));
            time::sleep(Duration::from_micros(7));
        }
    };
    let disturber = A
        .spawn("disturber", relative_priority(1), disturber)
        .map_err(failed)?;
    let disturbed = mix(rounds);
    STOP.store(true, Ordering::Relaxed);
    disturber.join().map_err(failed)?;
    expect(disturbed == undisturbed, "the same sum", disturbed)
}

fn nobody_between() -> Result<(), Failure> {
    thread::without_preemption(|| {
        A.spawn("a", relative_priority(1), || TRAIL.note(1))
            .map_err(failed)?;
        TRAIL.note(2);
        // Not by an interrupt that wakes a thread either.
        let end = time::Instant::now() + Duration::from_micros(300);
        while time::Instant::now() < end {}
        TRAIL.note(3);
        Ok::<_, Failure>(())
    })?;
    TRAIL.note(4);
    TRAIL.expect(2_314, "the other right afterwards")
}

fn priority_changes() -> Result<(), Failure> {
    let own = thread::current().priority();
    let other = A
        .spawn("a", relative_priority(-1), || TRAIL.note(1))
        .map_err(failed)?;
    TRAIL.note(2);
    other.set_priority(relative_priority(1)).map_err(failed)?;
    TRAIL.note(3);
    B.spawn("b", relative_priority(-1), || TRAIL.note(4))
        .map_err(failed)?;
    thread::current().set_priority(relative_priority(-2));
    TRAIL.note(5);
    thread::current().set_priority(own);
    TRAIL.expect(21_345, "raised before, lowered after")
}

fn storage_is_free() -> Result<(), Failure> {
    let first = A
        .spawn("first", relative_priority(1), thread::park)
        .map_err(failed)?;
    let second = A.spawn("second", relative_priority(1), || {});
    expect(second.err() == Some(Error::InUse), "the storage in use", 0)?;
    first.unpark().map_err(failed)?;
    A.spawn("third", relative_priority(1), || {})
        .map(drop)
        .map_err(failed)
}

fn closure_is_taken() -> Result<(), Failure> {
    let numbers: [u64; 20] = core::array::from_fn(|index| index as u64);
    let adder = move || TRAIL.note(usize::from(numbers.iter().sum::<u64>() == 190));
    A.spawn("adder", relative_priority(1), adder)
        .map_err(failed)?;
    TRAIL.expect(1, "the sum of what was taken along")
}
