//! Virtual disks: a virtio block device that a VM's own cores execute, in memory.
//!
//! # Purpose
//!
//! [`Block`] is a block device behind a virtio-mmio transport (virtio 1.2, 4.2 and 5.2) for
//! unmodified drivers: it reads, writes, flushes and identifies itself, with the features
//! `VERSION_1`, `BLK_SIZE`, `SEG_MAX`, `FLUSH` and, for a read-only disk, `RO`. It is the device
//! only: the emulation of the driver's accesses calls [`Block::read`] and [`Block::write`], and
//! [`Block::step`] as long as there is something to do.
//!
//! [`DISKS`] are the disks that the manifest places in memory, which no VM can access.
//! `docs/decisions/virtio-block.md` gives the reason why the VM's own cores execute them. For other
//! storage, instantiate [`Disks`] with another [`Storage`].
//!
//! # Guarantees
//!
//! - The driver is untrusted: each value that it writes, and may change concurrently, is read once
//!   and checked. An error of the driver leaves the device in need of a reset (2.1.2), and affects
//!   no other VM.
//! - A step is a descriptor, a header, a status, or a piece of data of which 512 bytes are copied
//!   between two checks for pending interrupts. No allocation, no panic.
//! - Buffers must lie in RAM of the VM: not in shared areas, devices, or memory of Mortise.
//! - Requests are executed in order, one at a time. Data is kept until the machine is turned off,
//!   regardless of restarts of its VM.
//!
//! # Example
//!
//! ```
//! use mortise_vdev_blk::{Block, Geometry};
//!
//! let disk = Geometry { sectors: 8, read_only: true, name: [0; 20] };
//! let mut block = Block::new(disk);
//! assert_eq!(block.read(0x000, 4), 0x7472_6976); // MagicValue
//! assert_eq!(block.read(0x100, 4), 8); // the capacity's lower half
//! block.write(0x070, 4, 1); // Status: ACKNOWLEDGE
//! assert_eq!(block.read(0x070, 4), 1);
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "memory is copied at addresses of the manifest and of the VM's driver"
)]

mod block;
mod disks;
mod registers;
mod request;
#[cfg(test)]
mod tests;

pub use block::{Block, Geometry, SECTOR, Step};
pub use disks::{DISKS, DiskAccess, Disks, InMemory, Storage};
pub use request::{IoError, Store};
