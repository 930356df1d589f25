//! A number that four cores pass on to each other.
//!
//! Each of four threads has a core of its own, waits for its turn, takes the number on by a step and
//! wakes the next one, on another core. A trace shows each step by the mark `STEP`.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU32, Ordering};
use support_challenge::{answer, asked, step};
use tenon::log;
use tenon::sync::Semaphore;
use tenon::thread::{Priority, Storage};
use tenon::trace::Mark;

/// Threads, and cores.
const MEMBERS: usize = 4;

/// How often each has its turn.
const ROUNDS: usize = 25;

static STORAGE: [Storage<4096>; MEMBERS] = [const { Storage::new() }; MEMBERS];
static TURNS: [Semaphore; MEMBERS] = [const { Semaphore::new(0) }; MEMBERS];
static DONE: Semaphore = Semaphore::new(0);
static NUMBER: AtomicU32 = AtomicU32::new(0);
static STEP: Mark = Mark::new();

/// The main thread: asks, and waits for the last of the others.
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
