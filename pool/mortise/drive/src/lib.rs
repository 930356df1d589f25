//! Partitions: virtual disks whose content is a range of a physical disk that Mortise has.
//!
//! # Purpose
//!
//! What a VM sees of such a disk, and what its driver may try, is that of any other of
//! [`mortise_vdev_blk`]. What is on it is on a physical disk of the board's, of which several VMs have
//! different ranges. [`PARTITIONS`] are those of the manifest; why it is so says
//! `docs/decisions/disk-partitions.md`.
//!
//! # Guarantees
//!
//! - A disk reads and writes the buffers of [`hw_virtio_blk::Memory`] alone, and of it only sectors of the
//!   range are asked for: the range is checked against the disk when Mortise starts, and each piece
//!   against the range.
//! - Nobody waits here. A piece that is on its way leaves the VM at its access, which it makes again,
//!   behind what is pending; what others have on their way is no matter.
//! - What a VM that ended or reset its device had on its way is done, and comes to nothing more.
//! - A flush is done when all that was written before is; what the physical disk cannot do fails.
//! - No allocation, no panic; the lock of a disk is held for a few stores, and a look at what came back.

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "registers and buffers lie where the manifest and the disk's driver say"
)]

mod drives;
mod piecewise;
mod range;
#[cfg(test)]
mod tests;

pub use drives::{DRIVES, Partition};

use mortise_vdev_blk::Disks;

/// The disks of this image's system that are a range of a physical one.
pub static PARTITIONS: Disks<Partition> = Disks::new();
