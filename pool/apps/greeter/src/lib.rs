//! Says hello to who gives it a number.
//!
//! A thread of its own takes the number on by a step each millisecond and leaves it to the main
//! thread, which is woken when it is done.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU32, Ordering};
use support_challenge::{answer, asked, step};
use tenon::sync::Semaphore;
use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration};

/// Steps of the number, a millisecond apart.
const STEPS: usize = 5;

static WORKER: Storage<4096> = Storage::new();
static NUMBER: AtomicU32 = AtomicU32::new(0);
static DONE: Semaphore = Semaphore::new(0);

/// The main thread: asks, and waits for the other one.
pub fn main() {
    let Some(number) = asked() else { return };
    NUMBER.store(number, Ordering::Relaxed);
    if let Err(error) = WORKER.spawn("worker", Priority::new(20), work) {
        return tenon::log::error!("no worker: {error}");
    }
    DONE.take();
    tenon::log::info!("hello, {number}");
    answer(NUMBER.load(Ordering::Relaxed));
}

fn work() {
    for _ in 0..STEPS {
        time::sleep(Duration::from_millis(1));
        NUMBER.store(step(NUMBER.load(Ordering::Relaxed)), Ordering::Relaxed);
    }
    if DONE.give().is_err() {
        tenon::log::error!("the main thread was told already");
    }
}
