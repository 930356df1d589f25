//! What Tenon's operations cost, measured on the target.
//!
//! Each measurement prints a line that names it and then its samples, run-length encoded in the
//! order they were taken; `./tenon bench` reads them and makes statistics of them. Where the
//! counting plugin measures from outside, between two symbols, a phase is announced by its name and
//! [`boundary`] is passed when it ends.

#![no_std]
#![forbid(unsafe_code)]

mod channels;
mod interrupts;
mod objects;
mod samples;
mod scheduling;
mod thread_metric;
mod timers;

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};
use tenon::thread::{self, Storage};

/// The core that everything is measured on: with several, the others have nothing to do.
const CORE: usize = 0;

/// The main thread gives way to one that stays on its core.
pub fn main() {
    static BENCH: Storage<32768> = Storage::new();
    if let Err(error) = BENCH.spawn_on(CORE, "bench", thread::current().priority(), suites) {
        tenon::log::error!("nothing is measured: {error}");
    }
}

/// All suites, the long ones last.
fn suites() {
    hw_pmu::start();
    boundary();
    samples::calibrate();
    if channels::run_between_vms() {
        tenon::log::info!("end of bench");
        return;
    }
    interrupts::run();
    timers::run();
    tenon::log::info!("end of paths");
    scheduling::run();
    objects::run();
    channels::run();
    thread_metric::run();
    tenon::log::info!("end of bench");
}

/// Announces a phase that is measured from outside.
fn phase(name: core::fmt::Arguments<'_>) {
    tenon::log::info!("phase {name}");
    boundary();
}

/// Where one phase ends and the next begins, for the plugin to see.
#[inline(never)]
fn boundary() {
    static PASSED: AtomicU32 = AtomicU32::new(0);
    black_box(&PASSED).fetch_add(1, Ordering::Relaxed);
}
