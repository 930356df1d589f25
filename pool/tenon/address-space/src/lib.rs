//! Address spaces of processes.
//!
//! An [`AddressSpace`] has [areas](Area) with permissions and a backing, and the translation tables
//! of EL0 with 39 bits. A page gets its frame when it is first accessed ([`AddressSpace::fault`]);
//! [`AddressSpace::fork`] shares frames, and the first write to a shared one copies it. The kernel
//! is in each space as well, by the entries of its own tables, without access from EL0.
//!
//! | addresses | |
//! |---|---|
//! | `0x1_0000` to the kernel's lowest mapping | programs linked at a fixed address |
//! | up to 4 GiB | the kernel |
//! | 4 GiB to 512 GiB | stacks, mappings, programs linked to any address |
//!
//! Guarantees: no page is both writable and executable. The kernel's copies from and to a process go
//! by the process's areas and by the physical address of the frame, never by the address that the
//! process states. A request that exceeds memory fails as a whole: nothing is mapped, and nothing is
//! lost. Work is linear in the pages concerned, and none of it masks interrupts; the caller has
//! exclusive access.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "translation tables are reached by address")]

mod areas;
mod space;
mod tables;

pub use areas::{Area, Areas, Backing, Permissions, Sharing};
pub use space::{AddressSpace, Denied, KernelPart};
pub use tenon_frames::{Object, PAGE};

use core::fmt;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

/// Error of a change of the areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No frame is free, the process has too many areas, or no range of that size is free.
    NoMemory,
    /// The range is empty, not of whole pages, or not of the process.
    Range,
    /// Part of the range is in an area, or outside all.
    Occupied,
    /// The permissions include writing and executing, or one of them where other mappings have the
    /// other one, or writing what was opened for reading.
    WritableCode,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoMemory => "no memory is left for it",
            Self::Range => "the range is not one of a process",
            Self::Occupied => "the range is not free, or not all of it is mapped",
            Self::WritableCode => "memory cannot be both writable and executable",
        })
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests;
