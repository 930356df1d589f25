//! Suite `sched`: yield, wake-up, blocking.

use crate::{CORE, samples};
use tenon::sync::Semaphore;
use tenon::thread::{self, Handle, Packed, relative_priority};

const MOST: usize = 1_000;

static PEERS: [Packed<1280>; MOST] = [const { Packed::new() }; MOST];

pub fn run() {
    for threads in [2, 10, 20, 50, 100, MOST] {
        yields(threads);
    }
    resumes();
    blocks();
    semaphores();
}

/// Spawns thread `number`. A benchmark has no samples if its thread is refused.
pub fn spawn(number: usize, difference: i8, body: fn()) -> Option<Handle> {
    let storage = PEERS.get(number)?;
    storage
        .spawn_on(CORE, "peer", relative_priority(difference), body)
        .ok()
}

/// From a thread's call of `yield_now` to its successor's return from `yield_now`.
fn yields(threads: usize) {
    for number in 1..threads {
        spawn(number, 0, turns);
    }
    turns();
    // The others notice the end of the measurement and end.
    for _ in 0..2 {
        thread::yield_now();
    }
    samples::report(format_args!("sched yield threads={threads}"));
}

/// Body of each thread, also of the main thread, so that all execute the same instructions.
#[inline(never)]
fn turns() {
    while samples::wanted() {
        samples::begin();
        thread::yield_now();
        samples::end();
    }
}

/// Give and take without a waiting thread, and a give that wakes a thread of higher priority.
fn semaphores() {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    while samples::wanted() {
        samples::begin();
        let _ = SEMAPHORE.give();
        samples::end();
        SEMAPHORE.take();
    }
    samples::report(format_args!("sched sem_give"));
    while samples::wanted() {
        let _ = SEMAPHORE.give();
        samples::begin();
        SEMAPHORE.take();
        samples::end();
    }
    samples::report(format_args!("sched sem_take"));
    spawn(1, 1, || {
        while samples::wanted() {
            SEMAPHORE.take();
            samples::end();
        }
    });
    while samples::wanted() {
        samples::begin();
        let _ = SEMAPHORE.give();
    }
    samples::report(format_args!("sched sem_preempt"));
}

/// Resume of a thread of higher priority, which runs at once.
fn resumes() {
    let urgent = spawn(1, 1, || {
        while samples::wanted() {
            thread::park();
            samples::end();
        }
    });
    let Some(urgent) = urgent else { return };
    while samples::wanted() {
        samples::begin();
        let _ = urgent.unpark();
    }
    samples::report(format_args!("sched resume_preempt"));
}

/// Blocking of a thread of higher priority, after which this one continues.
fn blocks() {
    let urgent = spawn(1, 1, || {
        while samples::wanted() {
            samples::begin();
            thread::park();
        }
    });
    let Some(urgent) = urgent else { return };
    while samples::wanted() {
        let _ = urgent.unpark();
        samples::end();
    }
    let _ = urgent.unpark();
    samples::report(format_args!("sched block_switch"));
}
