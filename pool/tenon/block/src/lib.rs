//! [`BlockDevice`]: sectors that are read, written and flushed.
//!
//! A device has [`sectors`](BlockDevice::sectors) of [`SECTOR`] bytes. Calls block until the device has
//! completed them. What is written is durable once a later [`flush`](BlockDevice::flush) returns; until
//! then a power cut loses any part of it, in any order. One sector is written as a whole or not at all.
//!
//! On the host, [`host::Disk`] is a device in memory, which fails or loses its power where a test
//! states it.
//!
//! ```
//! use tenon_block::{BlockDevice, Error, SECTOR};
//!
//! fn copy(device: &mut impl BlockDevice, from: u64, to: u64) -> Result<(), Error> {
//!     let mut sector = [0; SECTOR];
//!     device.read(from, &mut sector)?;
//!     device.write(to, &sector)?;
//!     device.flush()
//! }
//! # let mut disk = tenon_block::host::Disk::new(vec![7; 2 * SECTOR]);
//! # copy(&mut disk, 0, 1)?;
//! # assert_eq!(copy(&mut disk, 0, 2), Err(Error::Beyond));
//! # Ok::<(), Error>(())
//! ```

#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

#[cfg(not(target_os = "none"))]
pub mod host;

use core::fmt;

/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// Error of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The device reports a failure, or does not respond.
    Failed,
    /// The access is beyond the end of the device, or of no whole sector.
    Beyond,
    /// The device is read-only.
    ReadOnly,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "the disk has failed",
            Self::Beyond => "the access is beyond the end of the disk",
            Self::ReadOnly => "the disk is read-only",
        })
    }
}

impl core::error::Error for Error {}

/// A device with sectors.
pub trait BlockDevice {
    /// Number of sectors.
    fn sectors(&self) -> u64;

    /// Whether every write fails.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Reads as many sectors as `to` has room for, from one on.
    ///
    /// # Errors
    ///
    /// If the device fails or has no such sectors; `to` has any content then.
    fn read(&mut self, sector: u64, to: &mut [u8]) -> Result<(), Error>;

    /// Writes sectors from one on.
    ///
    /// # Errors
    ///
    /// If the device fails, is read-only or has no such sectors; any of them may be written then.
    fn write(&mut self, sector: u64, from: &[u8]) -> Result<(), Error>;

    /// Makes all earlier writes durable.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn flush(&mut self) -> Result<(), Error>;
}

impl<D: BlockDevice + ?Sized> BlockDevice for &mut D {
    fn sectors(&self) -> u64 {
        (**self).sectors()
    }

    fn is_read_only(&self) -> bool {
        (**self).is_read_only()
    }

    fn read(&mut self, sector: u64, to: &mut [u8]) -> Result<(), Error> {
        (**self).read(sector, to)
    }

    fn write(&mut self, sector: u64, from: &[u8]) -> Result<(), Error> {
        (**self).write(sector, from)
    }

    fn flush(&mut self) -> Result<(), Error> {
        (**self).flush()
    }
}

/// The number of sectors of an access; fails if it is not within a device of `sectors`.
///
/// # Errors
///
/// [`Error::Beyond`].
pub fn check(sectors: u64, sector: u64, bytes: usize) -> Result<u64, Error> {
    let count = (bytes / SECTOR) as u64;
    let fits = bytes.is_multiple_of(SECTOR) && sector <= sectors && count <= sectors - sector;
    fits.then_some(count).ok_or(Error::Beyond)
}
