//! Address ranges with checked arithmetic, a pool of page frames and a stock of blocks.
//!
//! # Purpose
//!
//! What both kernels need before any allocator exists: [`Range`] says where something lies and
//! whether it lies within or across something else; [`FramePool`] hands out zeroed page frames for
//! translation tables from memory that is part of the image; [`Blocks`] is the account of memory
//! that is given away in runs of large blocks.
//!
//! # Guarantees
//!
//! A range that exists is not empty and does not wrap around, so none of its methods can overflow;
//! one that lies in bytes of somebody else's is asked first ([`Range::is_sound`]). Ranges of different address spaces are different types. The pool is bounded by its size, takes
//! no lock and serves any core; a frame has one owner.
//!
//! # Example
//!
//! ```
//! use core_memory::{FramePool, PhysicalRange};
//!
//! let ram = PhysicalRange::new(0x4000_0000, 0x1000_0000).unwrap();
//! let image = PhysicalRange::new(0x4020_0000, 0x10_0000).unwrap();
//! assert!(ram.contains(&image) && ram.overlaps(&image));
//! assert_eq!(PhysicalRange::new(u64::MAX, 2), None);
//!
//! static FRAMES: FramePool<4> = FramePool::new();
//! let frame = FRAMES.allocate().unwrap();
//! assert!(frame.bytes.iter().all(|&byte| byte == 0));
//! FRAMES.free(frame);
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "FramePool hands out parts of itself as exclusive references"
)]

mod blocks;
mod frames;
mod range;

pub use blocks::Blocks;
pub use frames::{Frame, FramePool, FrameRoom};
pub use range::{
    Intermediate, IntermediateRange, Physical, PhysicalRange, Range, Virtual, VirtualRange,
};

/// Bytes of a page and of a frame: the 4 KiB granule (Arm ARM, D8.2).
pub const PAGE_SIZE: u64 = 4096;
