//! Semaphores between threads and interrupt handlers.
//!
//! [`Semaphore::give`] and [`Semaphore::try_take`] are for handlers too; [`Semaphore::take`] and
//! [`Semaphore::take_until`] wait, which a handler must not: it ends with a message.
//!
//! Guarantees: while nobody waits, neither giving nor taking calls the scheduler. A unit given while
//! somebody waits goes to the most urgent of them, the longest waiting among equals, so that nobody
//! who comes later takes it first. Times are absolute: a loop of waits does not drift.
//!
//! ```no_run
//! use tenon_sync::Semaphore;
//! use tenon_thread::time::{Duration, Instant};
//!
//! static ARRIVED: Semaphore = Semaphore::new(0);
//!
//! // In an interrupt handler:
//! let _ = ARRIVED.give();
//! // In a thread:
//! if ARRIVED.take_until(Instant::now() + Duration::from_millis(5)).is_err() { /* too late */ }
//! ```

#![no_std]
#![forbid(unsafe_code)]

mod semaphore;

pub use semaphore::Semaphore;

use core::fmt;

/// Why an operation was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The time was over.
    TimedOut,
    /// The semaphore is as full as it gets.
    Full,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the time to wait was over",
            Self::Full => "the semaphore is full",
        })
    }
}

impl core::error::Error for Error {}
