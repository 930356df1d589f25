//! Lock-free rings in memory shared with a peer that is not trusted.
//!
//! # Purpose
//!
//! A VM that owns its core must not leave it to be observed: it writes what it has to say into
//! shared memory, and another core, or the host, reads it there. VMs that work together, and threads
//! of one program, send each other messages in the same way. Three forms serve this:
//!
//! - [`stream`]: bytes in order, for logs. When it is full, new bytes are dropped and counted.
//! - [`journal`]: fixed-size records, for measurements. When it is full, the oldest are overwritten.
//! - [`message`]: messages in order, with a doorbell for who waits. When it is full, the sender is
//!   told.
//!
//! # Guarantees
//!
//! - **Nobody waits.** Every call ends within a number of steps given by its arguments.
//! - **The peer may lie.** All shared memory is read as atomic words and each side keeps its own
//!   index to itself; what the peer writes can spoil the data, never the bounds.
//! - One producer and one consumer each. Exclusive access (`&mut self`) makes that so on one side;
//!   whoever hands out the memory makes it so across sides.
//!
//! All of it works on [`Area`], a view of shared memory as 64-bit atomic words. Single bytes are
//! parts of a word, because mixing access sizes on one location has no defined order (Arm ARM,
//! B2.3: single-copy atomicity is per access).
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

/// Why a ring could not be made or found in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The area has no room for the header and the smallest ring.
    TooSmall,
    /// The area does not begin with the ring's magic number.
    NoRing,
    /// The capacity in the header is not a power of two, or reaches past the area.
    Capacity,
    /// There is no room for another message.
    Full,
    /// There is no message.
    Empty,
    /// The message is longer than the channel's messages may be.
    TooLong,
    /// The other end is gone; told once.
    PeerGone,
    /// The other end's index made no sense, and what it sent is lost.
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

/// The largest power of two that is at most `limit`, or nothing for zero.
fn power_of_two_within(limit: usize) -> Option<u64> {
    Some(1 << limit.checked_ilog2()?)
}

#[cfg(all(test, loom))]
mod model;
