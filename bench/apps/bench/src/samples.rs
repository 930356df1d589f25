//! Samples of a measurement, minus the overhead of measuring.
//!
//! Each sample is taken twice: here from the cycle counter, and by the plugin from the marks at both
//! ends. `./tenon bench` compares both. An end without a beginning is ignored by both.

use core::fmt;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Number of samples per measurement.
pub const COUNT: usize = 1_000;

static SAMPLES: [AtomicU32; COUNT] = [const { AtomicU32::new(0) }; COUNT];
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static BEGUN: AtomicU64 = AtomicU64::new(0);
static OVERHEAD: AtomicU32 = AtomicU32::new(0);

/// Begin of the measured path, in any thread or handler.
#[inline(always)]
pub fn begin() {
    BEGUN.store(hw_pmu::begin(), Relaxed);
}

/// End of the measured path, in any thread or handler.
#[inline(always)]
pub fn end() {
    let now = hw_pmu::end();
    let begun = BEGUN.load(Relaxed);
    if begun != 0 {
        BEGUN.store(0, Relaxed);
        take(now.wrapping_sub(begun));
    }
}

/// End of one path and begin of the next.
#[inline(always)]
pub fn next() {
    end();
    begin();
}

fn take(cycles: u64) {
    let index = TAKEN.load(Relaxed);
    if let Some(sample) = SAMPLES.get(index) {
        sample.store(cycles as u32, Relaxed);
        TAKEN.store(index + 1, Relaxed);
    }
}

/// Whether more samples are wanted.
pub fn wanted() -> bool {
    TAKEN.load(Relaxed) < COUNT
}

/// Measures the overhead of an empty path, which is subtracted from later samples.
pub fn calibrate() {
    for _ in 0..COUNT {
        begin();
        end();
    }
    let samples = SAMPLES.iter().map(|sample| sample.load(Relaxed));
    let overhead = samples.min().unwrap_or(0);
    OVERHEAD.store(overhead, Relaxed);
    TAKEN.store(0, Relaxed);
    tenon::log::info!("overhead {overhead}");
    crate::boundary();
}

/// Prints the samples under a name, run-length encoded, and clears them.
pub fn report(name: fmt::Arguments<'_>) {
    let taken = TAKEN.swap(0, Relaxed);
    tenon::log::info!("measured {name} samples={taken}");
    let overhead = OVERHEAD.load(Relaxed);
    let mut samples = SAMPLES
        .iter()
        .take(taken)
        .map(|sample| sample.load(Relaxed).saturating_sub(overhead))
        .peekable();
    while let Some(value) = samples.next() {
        let mut run = 1;
        while samples.next_if_eq(&value).is_some() {
            run += 1;
        }
        tenon::log::info!("{value} x {run}");
    }
    crate::boundary();
}
