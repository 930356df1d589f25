//! Address ranges with checked arithmetic, a pool of page frames and an allocator of blocks.
//!
//! # Purpose
//!
//! For both kernels, which have no other allocator: [`Range`] is an address range with tests for
//! inclusion and overlap; [`FramePool`] allocates zeroed page frames for translation tables from
//! memory that is part of the image; [`Blocks`] allocates memory in runs of large blocks.
//!
//! # Guarantees
//!
//! A range is not empty and does not wrap around, so none of its methods can overflow; a range read
//! from untrusted bytes is checked first ([`Range::is_sound`]). Ranges of different address spaces
//! are different types. The pool has a fixed size, takes no lock and serves any core; a frame has
//! one owner.
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
