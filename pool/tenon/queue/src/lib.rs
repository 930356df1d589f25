//! Queue, mailbox and pipe: message objects of threads and interrupt handlers.
//!
//! - [`Queue`], messages of one type, first in first out;
//! - [`Mailbox`], one value, replaced by each later one;
//! - [`Pipe`], bytes.
//!
//! All are static and of fixed size; nothing allocates. Operations that begin with `try_` are for
//! interrupt handlers too, the others block. Guarantees: without waiters, no operation calls the
//! scheduler, and interrupts are masked for a number of instructions that does not depend on the
//! size of a message. Waiters are ordered by priority, first come first served among equals.
//! Deadlines are absolute.
//!
//! ```no_run
//! use tenon_queue::Queue;
//!
//! static ANGLES: Queue<[u16; 3], 8> = Queue::new();
//!
//! // In an interrupt handler; a full queue is its problem:
//! let _ = ANGLES.try_put([0, 90, 180]);
//! // In a thread, reading the message in its place:
//! let angles = ANGLES.receive();
//! assert_eq!(angles[1], 90);
//! ```

#![no_std]
#![expect(unsafe_code, reason = "access to the slot one was given")]

mod mailbox;
mod pipe;
mod queue;

#[cfg(test)]
mod tests;

pub use mailbox::Mailbox;
pub use pipe::Pipe;
pub use queue::{Queue, Received, Reservation};

use core::fmt;

/// Error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The queue is full.
    Full,
    /// The queue is empty.
    Empty,
    /// The deadline has passed.
    TimedOut,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "it has no room",
            Self::Empty => "nothing to receive",
            Self::TimedOut => "the deadline has passed",
        })
    }
}

impl core::error::Error for Error {}
