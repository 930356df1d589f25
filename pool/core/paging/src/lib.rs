//! Translation tables of both kernels.
//!
//! - [`KernelMap`]: stage 1 identity map of a kernel at EL1 or EL2; no page is both writable and
//!   executable.
//! - [`GuestMap`]: stage 2 of a VM, from intermediate physical to physical addresses.
//! - [`DeviceMap`]: stage 1 or stage 2 of an IOMMU for DMA to the memory of a VM.
//! - [`SlotMap`]: stage 2 of a VM slot, with tables that are allocated once and reused by each VM of
//!   the slot.
//! - [`Window`]: address range by which a kernel maps foreign memory for one operation.
//!
//! Maps use the largest block or page that the alignment permits (1 GiB, 2 MiB, 4 KiB). The root has
//! level 1 and translates 39 bits; that of a kernel translates 32. Tables are allocated from a supply
//! of [`Frames`] fixed at build time, are identity-mapped, and are never freed: a map is built before
//! it is activated, and a mapping is never changed. Building takes time linear in the number of
//! entries written; it is not for real-time paths.
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
pub use kernel::{KernelMap, Use};
pub use slot::SlotMap;
pub use tables::Words;
pub use window::{WINDOW_SIZE, Window};

use core::fmt;

/// Error of mapping a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The address, size or target is not a multiple of 4 KiB.
    Unaligned(usize),
    /// The range exceeds the translated addresses: 4 GiB of a kernel, 512 GiB of a VM.
    OutOfRange(usize),
    /// The range is mapped already; a change would require break-before-make (Arm ARM, D8.17.1).
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
