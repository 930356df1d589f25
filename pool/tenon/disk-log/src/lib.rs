//! Files on a disk to which threads of an application append.
//!
//! # Purpose
//!
//! [`start`] starts the disk thread, which opens the FAT volume of the image's virtio disk.
//! [`Log::open`] opens a file in its root directory, or creates it. [`Log::append`] adds bytes to the
//! end of the file by way of a buffer in memory, and the thread writes them. [`Log::sync`] waits until
//! they are durable.
//!
//! # Guarantees
//!
//! - [`Log::append`] never waits for the disk. It copies the bytes under a lock with priority
//!   inheritance that the disk thread holds for a few instructions; without room for all of them in
//!   the buffer of [`BUFFER`] bytes it adds none.
//! - Bytes that are [durable](Log::durable) are in the file whenever the power is cut. The bytes of
//!   one call are added as a whole, in the order of the calls: after a power cut the file ends
//!   between two of them.
//! - Whatever waits in the buffer is written with one change of the file, so that a slow disk gets
//!   fewer and larger ones.
//! - Memory is static: [`FILES`] buffers, and the stack of the thread with the table of clusters.
//!   Nothing is allocated.
//! - An error of the disk, or a full one, ends the use of the file: the thread prints a line, and all
//!   later calls return the error.
//!
//! The times of files are in 1980, as an image has no calendar.
//!
//! # Example
//!
//! ```no_run
//! use tenon_disk_log::{Error, Log, start};
//! use tenon_thread::thread::Priority;
//!
//! fn note(text: &[u8]) -> Result<(), Error> {
//!     start(Priority::new(8))?;
//!     let log = Log::open("notes.txt")?;
//!     log.append(text)?;
//!     log.sync()
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod buffer;
mod log;
mod store;

pub use buffer::BUFFER;
pub use log::{Log, start};
pub use store::FILES;

use core::fmt;

/// Error of a log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The image has no usable disk, in words.
    NoDisk(&'static str),
    /// The volume of the disk cannot be used, or has no room.
    Volume(tenon_fs_fat::Error),
    /// The disk thread cannot start, or is not started, or a thread has ended with its lock.
    Thread,
    /// The disk thread is started already.
    Started,
    /// All [`FILES`] are open, or this one is.
    Open,
    /// The buffer has no room for the bytes: the disk is slower than what is appended.
    Full,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoDisk(words) => words,
            Self::Volume(error) => return error.fmt(f),
            Self::Thread => "the disk thread does not run",
            Self::Started => "the disk thread is started twice",
            Self::Open => "the file is open, or too many are",
            Self::Full => "the disk is too slow: the buffer is full",
        })
    }
}

impl core::error::Error for Error {}

impl From<tenon_fs_fat::Error> for Error {
    fn from(error: tenon_fs_fat::Error) -> Self {
        Self::Volume(error)
    }
}
