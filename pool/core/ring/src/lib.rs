//! Lock-free rings in memory that is shared with an untrusted peer.
//!
//! # Purpose
//!
//! A real-time VM must be observable without an exit: it writes logs and measurements into shared
//! memory, and another core or the host reads them there. VMs, and threads of one program, exchange
//! messages in the same way. There are three kinds of rings:
//!
//! - [`stream`]: bytes in order, for logs. When it is full, new bytes are dropped and counted.
//! - [`journal`]: fixed-size records, for measurements. When it is full, the oldest records are
//!   overwritten.
//! - [`message`]: messages in order, with doorbells for waiting ends. When it is full, sending fails.
//!
//! # Guarantees
//!
//! - **Wait-free.** Every call ends within a number of steps given by its arguments.
//! - **Untrusted peer.** Shared memory is read as atomic words only, and each end has a private copy
//!   of its own index. A peer can corrupt the data, but never cause an access out of bounds.
//! - One producer and one consumer per ring. Exclusive access (`&mut self`) guarantees this within
//!   one program; the owner of the memory must guarantee it across programs.
//!
//! All rings work on [`Area`], a view of shared memory as 64-bit atomic words. Single bytes are
//! accessed as parts of a word, because accesses of mixed size to one location have no defined order
//! (Arm ARM, B2.3: single-copy atomicity is per access).
//!
//! # Example
//!
//! ```
//! use core::sync::atomic::AtomicU64;
//! use core_ring::{Area, stream};
//!
//! let memory: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
//! let area = Area::new(&memory);
//! let mut consumer = stream::Consumer::create(area, false)?;
//! let mut producer = stream::Producer::attach(area)?;
//!
//! producer.write(b"hello");
//! let mut buffer = [0; 16];
//! assert_eq!(consumer.read(&mut buffer), 5);
//! assert_eq!(&buffer[..5], b"hello");
//! # Ok::<(), core_ring::Error>(())
//! ```

#![cfg_attr(not(any(test, loom)), no_std)]
#![cfg_attr(
    not(loom),
    expect(
        unsafe_code,
        reason = "Area::from_raw turns an address range into atomic words"
    )
)]

mod area;
pub mod journal;
pub mod message;
pub mod stream;

pub use area::Area;

use core::fmt;

/// Error of a ring operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The area is too small for the header and the smallest ring.
    TooSmall,
    /// The area does not begin with the ring's magic number.
    NoRing,
    /// The capacity in the header is not a power of two, or exceeds the area.
    Capacity,
    /// The queue is full.
    Full,
    /// The queue is empty.
    Empty,
    /// The message exceeds the maximum size of the queue.
    TooLong,
    /// The peer is gone; reported once.
    PeerGone,
    /// The peer's index is out of bounds, and its unread messages are lost.
    Corrupt,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooSmall => "the shared area is too small for a ring",
            Self::NoRing => "the shared area holds no ring",
            Self::Capacity => "the ring's capacity does not fit its area",
            Self::Full => "the channel is full",
            Self::Empty => "the channel is empty",
            Self::TooLong => "the message is longer than the channel's may be",
            Self::PeerGone => "the other end of the channel is gone",
            Self::Corrupt => "the other end of the channel spoiled its index",
        })
    }
}

impl core::error::Error for Error {}

/// Largest power of two that is at most `limit`; `None` for zero.
fn power_of_two_within(limit: usize) -> Option<u64> {
    Some(1 << limit.checked_ilog2()?)
}

#[cfg(all(test, loom))]
mod model;
