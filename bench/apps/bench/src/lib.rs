//! Benchmarks of Tenon's operations on the target.
//!
//! Each measurement prints a line with its name and then its samples in order, run-length encoded;
//! `./tenon bench` reads them and computes statistics. Where the counting plugin measures between two
//! symbols, a phase is announced by its name, and [`boundary`] marks its end.

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

/// The measured core; others are idle.
const CORE: usize = 0;

/// Main thread: starts a thread that is pinned to the measured core.
pub fn main() {
    static BENCH: Storage<32768> = Storage::new();
    if let Err(error) = BENCH.spawn_on(CORE, "bench", thread::current().priority(), suites) {
        tenon::log::error!("nothing is measured: {error}");
    }
}

/// Runs all suites, long ones last.
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

/// Announces a phase that the plugin measures.
fn phase(name: core::fmt::Arguments<'_>) {
    tenon::log::info!("phase {name}");
    boundary();
}

/// Boundary between two phases, a symbol for the plugin.
#[inline(never)]
fn boundary() {
    static PASSED: AtomicU32 = AtomicU32::new(0);
    black_box(&PASSED).fetch_add(1, Ordering::Relaxed);
}
