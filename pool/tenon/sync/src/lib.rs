//! What threads and interrupt handlers meet at: semaphores, mutexes, condition variables, event
//! flags.
//!
//! | | in a handler | in a thread |
//! |---|---|---|
//! | [`Semaphore`]: units counted | `give`, `try_take` | all of it |
//! | [`Mutex`]: data of one thread at a time | nothing, as a handler is no owner | all of it |
//! | [`EventFlags`]: what happened | `set`, `clear`, `get`, `try_wait` | all of it |
//! | [`Condvar`]: a change of that data | `notify_one`, `notify_all` | all of it |
//!
//! Guarantees: while nobody waits, no operation calls the scheduler. Who waits stands in line by
//! urgency, first come first served among equals, and what is given is the first one's from that
//! moment, so that nobody who comes later takes it. Times are absolute: a loop of waits does not
//! drift. A handler that waits, or locks a mutex, does not build; what no build can see, a wait behind a
//! pointer, ends the image with a message.
//!
//! ```no_run
//! use tenon_sync::{Mutex, Semaphore};
//! use tenon_thread::time::{Duration, Instant};
//!
//! static ARRIVED: Semaphore = Semaphore::new(0);
//! static TOTAL: Mutex<u64> = Mutex::new(0);
//!
//! // In an interrupt handler:
//! let _ = ARRIVED.give();
//! // In a thread:
//! ARRIVED.take_until(Instant::now() + Duration::from_millis(5))?;
//! *TOTAL.lock()? += 1;
//! # Ok::<(), tenon_sync::Error>(())
//! ```

#![no_std]
#![expect(unsafe_code, reason = "access to the data of the mutex one owns")]

mod condvar;
mod flags;
mod mutex;
mod semaphore;

pub use condvar::{Condvar, Wake};
pub use flags::{EventFlags, Wanted};
pub use mutex::{Mutex, MutexGuard};
pub use semaphore::Semaphore;

/// Mutexes and condition variables without data and guard, for interfaces of other languages.
pub mod raw {
    pub use tenon_thread::wait::{
        Acquired, MutexError, Protocol, RawCondvar, RawMutex, Robustness,
    };
}

use core::fmt;

/// Why an operation was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The time was over.
    TimedOut,
    /// The semaphore is as full as it gets.
    Full,
    /// The calling thread owns the mutex already.
    Owned,
    /// The calling thread does not own the mutex.
    NotOwner,
    /// Another thread owns the mutex.
    Busy,
    /// An owner of the mutex ended without unlocking it.
    Abandoned,
    /// The calling thread is more urgent than the ceiling of the mutex.
    AboveCeiling,
    /// Others wait for the same condition with another mutex.
    OtherMutex,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the time to wait was over",
            Self::Full => "the semaphore is full",
            Self::Owned => "the thread owns the mutex already",
            Self::NotOwner => "the thread does not own the mutex",
            Self::Busy => "another thread owns the mutex",
            Self::Abandoned => "an owner of the mutex ended without unlocking it",
            Self::AboveCeiling => "the thread is more urgent than the mutex's ceiling",
            Self::OtherMutex => "others wait for the condition with another mutex",
        })
    }
}

impl core::error::Error for Error {}
