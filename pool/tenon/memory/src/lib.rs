//! Memory at run time: pools of equal blocks, and a heap.
//!
//! A [`Pool`] and a [`Heap`] are static parts of the image, so that their size is known at build
//! time. Threads and interrupt handlers alike may allocate and free.
//!
//! Guarantees: a pool allocates and frees in a constant number of instructions, with interrupts
//! masked; a heap in bounded time (two-level segregated fit) of some hundred instructions. An
//! exhausted pool returns an error; no operation blocks. A [`Block`] has one owner, which frees it
//! by dropping it, so that no block is freed twice or to another pool.
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

/// Error of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The remaining memory does not suffice.
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
