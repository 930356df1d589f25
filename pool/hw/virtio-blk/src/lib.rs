//! A virtio block device behind a virtio-mmio transport (virtio 1.2, 4.2 and 5.2), which several share.
//!
//! # Purpose
//!
//! Each of [`SHARERS`] has a [buffer](Memory::buffer) of [`BUFFER`] bytes, and at most one
//! [piece](Piece) of work for the disk at a time: sectors that are read into that buffer or written from
//! it, or a flush. [`Drive::begin`] puts it in front of the disk, [`Drive::poll`] says what has become of
//! it. Both return at once; who has something else to do meanwhile does that.
//!
//! # Guarantees
//!
//! - A call is a few stores, and a look at as many pieces as are on their way. Only [`Drive::open`]
//!   waits, for no more than [`PATIENCE`] looks at a register.
//! - The disk is told addresses of [`Memory`] alone. All that decides what is believed of it is kept out
//!   of its reach: one that says something else than that a piece is done is turned off, and every
//!   piece fails from then on.
//! - No piece of one sharer waits for another's here; the disk takes them in the order they came.
//! - No lock, no allocation, no panic.
//!
//! # Example
//!
//! ```no_run
//! use hw_virtio_blk::{Drive, Error, Frame, Memory, Piece};
//!
//! fn first_sector(registers: Frame, memory: &'static Memory) -> Result<bool, Error> {
//!     let mut drive = Drive::open(registers, memory)?;
//!     println!("{} sectors", drive.sectors());
//!     drive.begin(0, Piece::Read { sector: 0, count: 1 });
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

/// Where its registers are, 512 bytes.
pub use hw_arch::mmio::Mmio as Frame;

pub use drive::{Drive, Piece};
pub use memory::{BUFFER, Memory, SHARERS};
pub use registers::{PATIENCE, Registers};

/// Bytes of a sector, by which a disk counts (5.2.4).
pub const SECTOR: u64 = 512;

/// Why a disk cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no block device behind the transport.
    Absent,
    /// The transport is one of before virtio 1.
    Legacy,
    /// It has not what is needed here, or wants what is not there.
    Unfit,
    /// It did not answer.
    Silent,
}

impl Error {
    /// It in words.
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
