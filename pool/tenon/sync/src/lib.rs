//! Synchronisation objects of threads and interrupt handlers: semaphores, mutexes, condition
//! variables, event flags.
//!
//! | | in a handler | in a thread |
//! |---|---|---|
//! | [`Semaphore`]: units counted | `give`, `try_take` | all of it |
//! | [`Mutex`]: data of one thread at a time | nothing, as a handler is no owner | all of it |
//! | [`EventFlags`]: what happened | `set`, `clear`, `get`, `try_wait` | all of it |
//! | [`Condvar`]: a change of that data | `notify_one`, `notify_all` | all of it |
//!
//! Guarantees: without waiters, no operation calls the scheduler. Waiters are ordered by priority,
//! first come first served among equals. A unit or lock is handed to the first waiter, so that a
//! thread that comes later cannot take it. Deadlines are absolute, so that a loop of waits does not
//! drift. A handler that waits, or locks a mutex, does not compile; a wait that the compiler cannot
//! see, behind a function pointer, ends the image with a message.
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

/// Error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The deadline has passed.
    TimedOut,
    /// The semaphore has its maximum count.
    Full,
    /// The calling thread already owns the mutex.
    Owned,
    /// The calling thread does not own the mutex.
    NotOwner,
    /// Another thread owns the mutex.
    Busy,
    /// An owner of the mutex ended without unlocking it.
    Abandoned,
    /// The calling thread's priority exceeds the ceiling of the mutex.
    AboveCeiling,
    /// Other threads wait for the same condition with another mutex.
    OtherMutex,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the deadline has passed",
            Self::Full => "the semaphore is full",
            Self::Owned => "the mutex is owned already",
            Self::NotOwner => "the thread does not own the mutex",
            Self::Busy => "another thread owns the mutex",
            Self::Abandoned => "an owner of the mutex ended without unlocking it",
            Self::AboveCeiling => "the thread is more urgent than the mutex's ceiling",
            Self::OtherMutex => "waiters of the condition use another mutex",
        })
    }
}

impl core::error::Error for Error {}
