//! Translation tables of both kernels.
//!
//! - [`KernelMap`]: a kernel's own stage 1, one to one, for either exception
//!   level; no page is both writable and executable.
//! - [`GuestMap`]: the stage 2 of a virtual machine, from intermediate physical
//!   to physical addresses.
//! - [`DeviceMap`]: the same for devices that reach its memory by themselves, of either stage.
//! - [`SlotMap`]: the same for a place where one virtual machine after the other
//!   lives, in tables made once.
//! - [`Window`]: a place where a kernel sees memory that is not in its map, for a
//!   moment.
//!
//! Both use the largest blocks that alignment allows (4 KiB, 2 MiB, 1 GiB) and
//! begin at a root of level 1, which translates 39 bits; a kernel's translates 32. Tables come from a supply of
//! [`Frames`] fixed at build time, are reached one to one, and stay for good: a map is
//! made before it is used, and what it maps is never mapped otherwise. Building is linear
//! in the number of entries written; nothing here runs on a real-time path.
//!
//! ```
//! use core_memory::FramePool;
//! use core_paging::{Access, GuestMap};
//!
//! static FRAMES: FramePool<4> = FramePool::new();
//! let mut guest = GuestMap::new(&FRAMES)?;
//! guest.map(0x4000_0000, 0x5800_0000, 16 << 20, Access::Full)?;
//! assert_eq!(guest.translate(0x4012_3456), Some(0x5812_3456));
//! # Ok::<(), core_paging::Error>(())
//! ```
#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "translation tables are reached by address")]

mod device;
mod frames;
mod guest;
mod kernel;
mod slot;
mod tables;
mod window;

pub use device::DeviceMap;
pub use frames::Frames;
pub use guest::{Access, GuestMap};
pub use kernel::{KernelMap, Level, Use};
pub use slot::SlotMap;
pub use tables::Words;
pub use window::{WINDOW_SIZE, Window};

use core::fmt;

/// Why a range could not be mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The address, size or target is not a multiple of 4 KiB.
    Unaligned(usize),
    /// The range ends beyond what is translated: 4 GiB, or of a virtual machine 512.
    OutOfRange(usize),
    /// Something else is mapped there: a change would need break-before-make (Arm ARM, D8.17.1).
    Live(usize),
    /// The supply has no frame left for a table.
    Exhausted,
}

impl fmt::Display for Error {
    #[cold]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unaligned(address) => write!(f, "{address:#x} is not a multiple of 4 KiB"),
            Self::OutOfRange(address) => write!(f, "{address:#x} is beyond what is translated"),
            Self::Live(address) => write!(f, "{address:#x} is in use and cannot be mapped anew"),
            Self::Exhausted => f.write_str("too few page tables: raise MORTISE_PAGE_TABLES"),
        }
    }
}

impl core::error::Error for Error {}
