//! System calls of Linux that mount a disk and write files to it.
//!
//! | module | content |
//! |---|---|
//! | [`call`] | `mount`, `umount2`, `sync`, `fsync`, `fdatasync`, `syncfs` |
//! | `service` | the thread that uses the disk |
//! | `mirror` | the files of the disk in the file tree, and the way back |
//!
//! `mount` reads all files of a FAT volume into the file tree, where each call of each library finds
//! them. A sync compares the tree with the volume and writes what differs
//! (`docs/decisions/disk-files.md`). One disk is mounted at a time.
//!
//! Guarantees: a thread at the priority of processes uses the disk, and a process that waits for it
//! sleeps. The lock of processes is held for a piece of 4 KiB at a time. No interrupt is masked. What
//! the disk does is an error at the most.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod call;
mod mirror;
mod service;

use tenon_process::{Call, Calls};

/// All calls of this library, in place of those of `tenon-linux-files` for files in memory alone.
pub static CALLS: Calls = Calls(&[
    Call(39, call::umount2),
    Call(40, call::mount),
    Call(81, call::sync),
    Call(82, call::fsync),
    Call(83, call::fsync),
    Call(267, call::syncfs),
]);
