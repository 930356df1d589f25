//! Self-test of Tenon on the target.
//!
//! Host tests cover the logic of scheduler and timers. These cases cover context switches, preemption by
//! interrupts, and preservation of registers. Each prints a line, `ok` or `FAILED`; the last line has
//! the totals.

#![no_std]
#![forbid(unsafe_code)]

mod conditions;
mod cores;
mod crowd;
mod handles;
mod interrupts;
mod memory;
mod mutexes;
mod queues;
mod races;
mod semaphores;
mod threads;
mod timers;

pub use interrupts::REGISTERED;

use core::sync::atomic::{AtomicUsize, Ordering};
use support_cases::{Failure, expect, run};

/// Failure of the creation of an object.
fn refused(error: tenon::sync::Error) -> Failure {
    Failure::new("no refusal", error as u64)
}

/// The order of events as decimal digits, the newest last.
pub struct Trail(AtomicUsize);

impl Trail {
    const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    fn note(&self, digit: usize) {
        let digits = self.0.load(Ordering::Relaxed);
        self.0.store(digits * 10 + digit, Ordering::Relaxed);
    }

    fn expect(&self, digits: usize, expected: &'static str) -> Result<(), Failure> {
        let got = self.0.swap(0, Ordering::Relaxed);
        expect(got == digits, expected, got as u64)
    }
}

/// Main thread: runs all cases. Images for several cores have other cases, as threads run in parallel.
pub fn main() {
    if tenon::thread::cores() > 1 {
        run("selftest", cores::cases());
        return;
    }
    let cases = threads::CASES.iter().chain(handles::CASES);
    // An image for few timers has no capacity for this case.
    let crowd = if tenon_thread::options::few_timers() {
        &[]
    } else {
        crowd::CASES
    };
    let cases = cases.chain(timers::CASES).chain(crowd);
    let cases = cases.chain(semaphores::CASES);
    let cases = cases.chain(memory::CASES).chain(mutexes::CASES);
    let cases = cases
        .chain(conditions::CASES)
        .chain(queues::CASES)
        .chain(races::CASES);
    run("selftest", cases.chain(interrupts::CASES));
}
