//! Virtual disks: a virtio block device that a VM's own cores carry out, in memory.
//!
//! # Purpose
//!
//! [`Block`] is a block device behind a virtio-mmio transport (virtio 1.2, 4.2 and 5.2) for
//! unmodified drivers: it reads, writes, flushes and says its name, with the features
//! `VERSION_1`, `BLK_SIZE`, `SEG_MAX`, `FLUSH` and, of a disk that cannot be written, `RO`. It is the
//! device alone: who emulates the driver's accesses calls [`Block::read`] and [`Block::write`], and
//! [`Block::step`] as long as there is something to do.
//!
//! [`DISKS`] are those that the manifest has in memory, which no VM reaches; why they are carried out
//! by who uses them says `docs/decisions/virtio-block.md`. Who has the content elsewhere makes
//! [`Disks`] of its own [`Content`].
//!
//! # Guarantees
//!
//! - The driver is hostile: whatever it writes, and changes meanwhile, is read once and checked. What
//!   no driver may do leaves the device in need of a reset (2.1.2), and touches nobody else.
//! - A step is a descriptor, a header, a verdict, or a piece of data of which 512 bytes are copied
//!   between two looks at the interrupts. No allocation, no panic.
//! - What a driver gives for a buffer is its VM's own RAM, or it is refused: no shared area, no
//!   device, nothing of Mortise's.
//! - Requests are done in their order, all of one before the next. What is written stays until the
//!   machine goes off, whatever becomes of its VM.
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
    reason = "what is copied lies where the manifest and the driver say"
)]

mod block;
mod disks;
mod registers;
mod request;
#[cfg(test)]
mod tests;

pub use block::{Block, Geometry, SECTOR, Step};
pub use disks::{Content, DISKS, Disks, InMemory, Reach};
pub use request::{Halt, Store};
