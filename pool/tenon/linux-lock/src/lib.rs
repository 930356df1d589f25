//! System calls of Linux for locks of files, and for flags of descriptors.
//!
//! | module | calls |
//! |---|---|
//! | [`descriptor`] | `fcntl`: copies and flags of descriptors, sizes of pipes, locks |
//! | [`owner`] | owners of descriptions of `fcntl`, and their signals |
//! | [`lock`] | `flock`, and the locks of `fcntl` |
//! | [`lease`] | leases of files |
//! | [`notice`] | signals of changes in directories |
//!
//! Locks are those of a process for bytes of a file, which end when it closes any descriptor of that,
//! and those of an open file description. They are limited in number.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod descriptor;
mod interest;
pub mod lease;
pub mod lock;
pub mod notice;
pub mod owner;
mod ranges;
mod wait;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[Call(25, descriptor::fcntl), Call(32, lock::flock)]);

#[cfg(test)]
mod tests;
