//! Driver of a virtio block device behind a virtio-mmio transport (virtio 1.2, 4.2 and 5.2), shared
//! by several users.
//!
//! # Purpose
//!
//! Each of [`SHARERS`] has a [buffer](Memory::buffer) of [`BUFFER`] bytes, and at most one
//! [request](Request) in flight: sectors that are read into that buffer or written from it, or a
//! flush. [`Drive::submit`] submits it, [`Drive::poll`] returns its result. Neither waits.
//!
//! # Guarantees
//!
//! - A call is a few stores, and one check for each request in flight. Only [`Drive::open`] waits,
//!   for at most [`POLL_LIMIT`] polls of a register.
//! - The device gets only addresses in [`Memory`]. The state by which its reports are validated is kept
//!   elsewhere: a device that reports anything but the completion of a request is disabled, and every
//!   later request fails.
//! - No request waits here for one of another sharer; the device takes them in order.
//! - No lock, no allocation, no panic.
//!
//! # Example
//!
//! ```no_run
//! use hw_virtio_blk::{Drive, Error, Frame, Memory, Request};
//!
//! fn first_sector(registers: Frame, memory: &'static Memory) -> Result<bool, Error> {
//!     let mut drive = Drive::open(registers, memory)?;
//!     println!("{} sectors", drive.sectors());
//!     drive.submit(0, Request::Read { sector: 0, count: 1 });
//!     loop {
//!         if let Some(good) = drive.poll(0) {
//!             return Ok(good);
//!         }
//!     }
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod drive;
mod memory;
mod registers;
#[cfg(test)]
mod tests;

/// Its registers, 512 bytes.
pub use hw_arch::dma::Frame;

pub use drive::{Drive, Request};
pub use hw_arch::mmio::Registers;
pub use memory::{BUFFER, Memory, SHARERS};
pub use registers::{POLL_LIMIT, TRANSPORTS, Transport};

/// Bytes of a sector, the unit of requests (5.2.4).
pub const SECTOR: u64 = 512;

/// Reason why a disk cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No block device behind the transport.
    Absent,
    /// A transport older than virtio 1.
    Legacy,
    /// It lacks a required feature, or requires one that the driver lacks.
    Unfit,
    /// It did not respond.
    Silent,
}

impl Error {
    /// Text of the error.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Absent => "there is no disk where the board has one",
            Self::Legacy => "the disk is behind a transport of before virtio 1",
            Self::Unfit => "the disk has not what it takes to be shared",
            Self::Silent => "the disk does not answer",
        }
    }
}
