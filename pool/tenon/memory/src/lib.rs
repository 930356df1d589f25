//! Memory at run time: pools of equal blocks, and a heap.
//!
//! A [`Pool`] and a [`Heap`] are part of the image, so what they can give is known when the image is
//! built. Taking a [`Block`] and dropping it are for threads and for interrupt handlers alike, and so
//! are pieces of a heap.
//!
//! Guarantees: with a pool both take the same few instructions whatever its size and state, with
//! interrupts masked; with a heap they are bounded too (two-level segregated fit), and some hundreds.
//! What is empty says so; nothing waits. A block has one owner, who gives
//! it back by dropping it, so that none is given back twice or to another pool.
//!
//! ```
//! use tenon_memory::Pool;
//!
//! static PACKETS: Pool<128, 2> = Pool::new();
//!
//! let mut packet = PACKETS.allocate()?;
//! packet[0] = 0x45;
//! let other = PACKETS.allocate()?;
//! assert!(PACKETS.allocate().is_err());
//! drop(packet);
//! assert!(PACKETS.allocate().is_ok());
//! # Ok::<(), tenon_memory::Error>(())
//! ```

#![no_std]
#![expect(
    unsafe_code,
    reason = "what is free is linked through its own bytes, what has an owner is reached by it"
)]

mod heap;
mod pool;

pub use heap::Heap;
pub use pool::{Block, Pool};

use core::fmt;

/// Why there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// What is left is not enough.
    Exhausted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exhausted => "there is not enough memory left",
        })
    }
}

impl core::error::Error for Error {}
