//! Greeter application, which answers a number after some steps.
//!
//! A second thread applies a step of the challenge to the number each millisecond, then wakes the main
//! thread, which prints the answer.

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

/// Main thread: asks for the number and waits for the second thread.
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
