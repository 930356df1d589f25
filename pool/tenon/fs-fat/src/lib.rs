//! [`Volume`]: a FAT file system on a block device (Microsoft FAT specification, FATGEN103).
//!
//! FAT12, FAT16 and FAT32 with long names, on the whole device. [`Volume::open`] follows every cluster
//! chain once and refuses a volume with a damaged one; clusters that no file has, as a power cut leaves
//! them, become free. A file is read as a whole, and [written](Volume::write) as a whole from a
//! function that has its content: only what differs is written. Bytes are [added](Volume::append) to
//! its end without reading it.
//!
//! Guarantees:
//!
//! - Whenever the power is cut, each file has the content of before or after a change of it, and
//!   others are unchanged. New content is written to free clusters, then one sector of its directory
//!   is rewritten, then its former clusters become free; a flush separates each of these. Content that
//!   is appended goes behind the present one.
//! - Any bytes are a device: a volume that is none, or damaged, is an [`Error`]. Each cluster is
//!   followed at most once, so that the time is bounded by the size of the volume.
//! - Memory is that of the volume, and a bit for each cluster, which the caller lends.
//!
//! After [`Error::Device`] the volume must be opened again: what it has in memory may not be what is on
//! the device.
//!
//! ```
//! use tenon_block::host::Disk;
//! use tenon_fs_fat::{Error, ROOT, Volume};
//!
//! let disk = Disk::new(tenon_fs_fat::host::empty(600, 1));
//! let mut clusters = [0; 16];
//! let mut volume = Volume::open(disk, &mut clusters)?;
//! let mut file = volume.create(ROOT, b"settings", false, 0)?;
//! volume.write(&mut file, 4, 0, |_, bytes| {
//!     bytes.copy_from_slice(b"on=1");
//!     Ok::<(), Error>(())
//! })?;
//! volume.finish()?;
//! assert_eq!(volume.find(ROOT, b"settings")?.unwrap().size, 4);
//! # Ok::<(), Error>(())
//! ```

#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

#[cfg(not(target_os = "none"))]
pub mod host;
mod layout;
mod name;
mod slot;
#[cfg(test)]
mod tests;
mod time;
mod volume;

pub use slot::NAME;
pub use volume::directory::{Cursor, Directory, Entry, ROOT};
pub use volume::{DEPTH, Volume};

use core::fmt;
use tenon_block::Error as DeviceError;

/// Error of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The device has failed.
    Device(DeviceError),
    /// The device has no FAT file system, or one with sectors of another size than 512 bytes.
    NotFat,
    /// The volume is damaged.
    Damaged,
    /// The volume has more clusters than there is memory for.
    TooManyClusters,
    /// No cluster is free, or the root directory has no room.
    NoSpace,
    /// FAT has no such name: it has a reserved character, or ends in a space or dot.
    Name,
    /// The name exists, apart from upper and lower case.
    Exists,
    /// The directory has entries.
    NotEmpty,
    /// The file has 4 GiB or more.
    TooLarge,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device(error) => return error.fmt(f),
            Self::NotFat => "it has no FAT file system",
            Self::Damaged => "its file system is damaged: mend it by fsck.fat",
            Self::TooManyClusters => "its file system has too many clusters",
            Self::NoSpace => "it is full",
            Self::Name => "FAT has no such name",
            Self::Exists => "FAT has the name in other letters",
            Self::NotEmpty => "the directory is not empty",
            Self::TooLarge => "the file is too large for FAT",
        })
    }
}

impl core::error::Error for Error {}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}
