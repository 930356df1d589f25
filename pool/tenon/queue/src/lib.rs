//! What threads and interrupt handlers hand each other data through.
//!
//! - [`Queue`], messages of one type, first in first out;
//! - [`Mailbox`], one value, of which the latest counts;
//! - [`Pipe`], bytes.
//!
//! All are static and of fixed size; nothing allocates. What begins with `try_` is for interrupt
//! handlers too, the rest waits. Guarantees: while nobody waits, no operation calls the scheduler,
//! and interrupts are masked for a number of instructions that does not depend on the size of a
//! message. Who waits stands in line by urgency, first come first served among equals. Times are
//! absolute.
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

/// Why nothing was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no room.
    Full,
    /// There is nothing to get.
    Empty,
    /// The time was over.
    TimedOut,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "there is no room",
            Self::Empty => "there is nothing to get",
            Self::TimedOut => "the time to wait was over",
        })
    }
}

impl core::error::Error for Error {}
