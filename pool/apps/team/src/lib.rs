//! Ring of four threads on four cores that pass on a number.
//!
//! Each thread is pinned to a core. It waits for the preceding thread, applies a step of the challenge
//! and wakes the next thread on another core. A trace shows each step by the mark `STEP`.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU32, Ordering};
use support_challenge::{answer, asked, step};
use tenon::log;
use tenon::sync::Semaphore;
use tenon::thread::{Priority, Storage};
use tenon::trace::Mark;

/// Number of threads and cores.
const MEMBERS: usize = 4;

/// Rounds of the ring.
const ROUNDS: usize = 25;

static STORAGE: [Storage<4096>; MEMBERS] = [const { Storage::new() }; MEMBERS];
static TURNS: [Semaphore; MEMBERS] = [const { Semaphore::new(0) }; MEMBERS];
static DONE: Semaphore = Semaphore::new(0);
static NUMBER: AtomicU32 = AtomicU32::new(0);
static STEP: Mark = Mark::new();

/// Main thread: asks for the number and waits until the last thread is done.
pub fn main() {
    let Some(number) = asked() else { return };
    NUMBER.store(number, Ordering::Relaxed);
    for (member, storage) in STORAGE.iter().enumerate() {
        let work = move || work(member);
        if let Err(error) = storage.spawn_on(member, "member", Priority::new(20), work) {
            return log::error!("no thread on core {member}: {error}");
        }
    }
    wake(&TURNS[0]);
    DONE.take();
    answer(NUMBER.load(Ordering::Relaxed));
}

fn work(member: usize) {
    for _ in 0..ROUNDS {
        TURNS[member].take();
        let number = step(NUMBER.load(Ordering::Relaxed));
        NUMBER.store(number, Ordering::Relaxed);
        STEP.hit();
        wake(&TURNS[(member + 1) % MEMBERS]);
    }
    if member == MEMBERS - 1 {
        wake(&DONE);
    }
}

fn wake(semaphore: &'static Semaphore) {
    if let Err(error) = semaphore.give() {
        log::error!("nobody is woken: {error}");
    }
}
