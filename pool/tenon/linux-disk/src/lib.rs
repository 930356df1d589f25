//! System calls of Linux that mount a disk and write files to it.
//!
//! | module | content |
//! |---|---|
//! | [`call`] | `mount`, `umount2`, `sync`, `fsync`, `fdatasync`, `syncfs` |
//! | `service` | the thread that uses the disk |
//! | `mirror` | the files of the disk in the file tree, and the way back |
//! | `device` | the disk as a block device |
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
mod device;
mod mirror;
mod service;

use tenon_linux_files::{names, status};
use tenon_process::{Call, Calls};

/// All calls of this library, those of files in memory included.
pub static CALLS: Calls = Calls(&[
    Call(17, names::getcwd),
    Call(33, names::mknodat),
    Call(34, names::mkdirat),
    Call(35, names::unlinkat),
    Call(36, names::symlinkat),
    Call(37, names::linkat),
    Call(38, names::renameat),
    Call(39, call::umount2),
    Call(40, call::mount),
    Call(43, status::statfs),
    Call(44, status::fstatfs),
    Call(45, status::truncate),
    Call(46, status::ftruncate),
    Call(47, status::fallocate),
    Call(48, names::faccessat),
    Call(49, names::chdir),
    Call(51, names::chroot),
    Call(52, status::fchmod),
    Call(53, status::fchmodat),
    Call(54, status::fchownat),
    Call(55, status::fchown),
    Call(78, names::readlinkat),
    Call(79, status::newfstatat),
    Call(80, status::fstat),
    Call(81, call::sync),
    Call(82, call::fsync),
    Call(83, call::fsync),
    Call(84, status::sync_file_range),
    Call(88, status::utimensat),
    Call(267, call::syncfs),
    Call(276, names::renameat2),
    Call(291, status::statx),
    Call(439, names::faccessat2),
]);

#[cfg(test)]
mod tests {
    #[test]
    fn all_calls_for_files_are_served() {
        let own: Vec<_> = crate::CALLS.0.iter().map(|call| call.0).collect();
        assert!(own.is_sorted());
        for call in tenon_linux_files::CALLS.0 {
            assert!(own.contains(&call.0), "{}", call.0);
        }
    }
}
