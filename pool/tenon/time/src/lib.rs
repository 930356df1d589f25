//! Time of threads: instants, sleep, one-shot and periodic timers.
//!
//! | item | content |
//! |---|---|
//! | [`Instant`] | a point in time of the system counter, the same in every VM |
//! | [`sleep`], [`sleep_until`] | block the current thread |
//! | [`Timer`] | calls a handler once |
//! | [`PeriodicTimer`] | calls a handler in each period, without an error that accumulates |
//!
//! Applications use these as `tenon_thread::time`. The queue of a core's timers is in
//! `tenon-kernel`, its algorithm in `core-timer`.
//!
//! Guarantees: starting and cancelling a timer take constant time for any number of pending timers,
//! except in an image for few timers (TENON_THREAD_FEW_TIMERS). A handler runs in the timer
//! interrupt, with interrupts masked, and must not block; the build rejects one that may.

#![no_std]
#![expect(unsafe_code, reason = "state of a core behind masked interrupts")]

mod instant;
mod periodic;
mod sleep;
mod timer;

pub use core::time::Duration;
pub use instant::{Instant, nanoseconds, resolution};
pub use periodic::PeriodicTimer;
pub use sleep::{sleep, sleep_until};
pub use timer::{Timer, start_background};

use tenon_machine::analysis_notes as notes;

/// Calls the handler of type `F`, which captures nothing.
#[inline(always)]
fn call<F: Fn() + Copy + 'static>() {
    const { assert!(size_of::<F>() == 0, "a timer's handler captures nothing") };
    notes::note_timer_handler();
    // SAFETY: F has no size, so any aligned address holds a value. The timer was given an F, so the
    // type has values, and F is Copy, so reading another one is allowed.
    let handler = unsafe { core::ptr::NonNull::<F>::dangling().read() };
    handler();
}

#[cfg(test)]
mod tests;
