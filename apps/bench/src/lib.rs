//! What Tenon's operations cost, measured on the target.
//!
//! Each measurement prints a line that names it and then its samples, run-length encoded in the
//! order they were taken; `./tenon bench` reads them and makes statistics of them. Where the
//! counting plugin measures from outside, between two symbols, a phase is announced by its name and
//! [`boundary`] is passed when it ends.

#![no_std]
#![forbid(unsafe_code)]

mod interrupts;
mod samples;
mod scheduling;
mod timers;

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

/// The main thread: all suites, the long ones last.
pub fn main() {
    hw_pmu::start();
    samples::calibrate();
    boundary();
    interrupts::run();
    timers::run();
    tenon::log::info!("end of paths");
    scheduling::run();
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
