//! Suite `sched`: yielding, waking, blocking.

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

/// A thread of this number; a benchmark that gets none has none of its samples either.
pub fn spawn(number: usize, difference: i8, body: fn()) -> Option<Handle> {
    let storage = PEERS.get(number)?;
    storage
        .spawn_on(CORE, "peer", relative_priority(difference), body)
        .ok()
}

/// From a thread's call of `yield_now` to its successor's return from it.
fn yields(threads: usize) {
    for number in 1..threads {
        spawn(number, 0, turns);
    }
    turns();
    // The others find out that it is over, and end.
    for _ in 0..2 {
        thread::yield_now();
    }
    samples::report(format_args!("sched yield threads={threads}"));
}

/// What each of them runs, the main thread too: the same instructions.
#[inline(never)]
fn turns() {
    while samples::wanted() {
        samples::begin();
        thread::yield_now();
        samples::end();
    }
}

/// Giving and taking while nobody waits, and giving to a more urgent thread, which runs at once.
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

/// A more urgent thread that is resumed runs at once.
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

/// When a more urgent thread blocks, this one goes on.
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
