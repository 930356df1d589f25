//! Disk partitions: virtual disks with the contents of a range of a physical disk that Mortise drives.
//!
//! # Purpose
//!
//! A VM sees an ordinary virtio disk of [`mortise_vdev_blk`]; its driver is not trusted. The contents are on a physical disk of the board, of which several VMs have different
//! ranges. [`PARTITIONS`] are those of the manifest; `docs/decisions/disk-partitions.md` gives the
//! reasons.
//!
//! # Guarantees
//!
//! - A physical disk accesses only the buffers of [`hw_virtio_blk::Memory`], and only sectors of
//!   the range are requested: the range is checked against the disk when Mortise starts, and each
//!   request against the range.
//! - No core waits for a disk. While a request is in flight, the VM repeats its access after
//!   pending interrupts are served; requests of other VMs do not matter.
//! - A request in flight of a VM that ended or reset its device completes, and its result is
//!   dropped.
//! - A flush completes after all earlier writes; an operation that the physical disk lacks fails.
//! - No allocation, no panic; the lock of a disk is held for a few stores and a check for
//!   completions.

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "registers and buffers are accessed at addresses of the manifest and the driver"
)]

mod buffered_io;
mod drives;
mod range;
#[cfg(test)]
mod tests;

pub use drives::{DRIVES, Partition};

use mortise_vdev_blk::Disks;

/// Disks of this image's system that are ranges of physical ones.
pub static PARTITIONS: Disks<Partition> = Disks::new();
