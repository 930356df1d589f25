//! System calls of Linux for names and attributes of files.
//!
//! | module | calls |
//! |---|---|
//! | [`names`] | names of files: directories, links, renaming |
//! | [`status`] | attributes of files: status, size, permissions, times |
//!
//! [`flag`], [`limit`], [`busy`], [`descriptor`] and [`content`] are what other calls have in common with
//! these. A path is resolved by the credentials of the caller, with symbolic links and the generated
//! files of `/proc`.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod busy;
pub mod content;
pub mod descriptor;
pub mod flag;
pub mod limit;
pub mod names;
pub mod path;
pub mod status;

pub use tenon_files::event;

use tenon_process::{Call, Calls};

/// The calls of this library, but for [`SYNC_CALLS`].
pub static CALLS: Calls = Calls(&[
    Call(17, names::getcwd),
    Call(33, names::mknodat),
    Call(34, names::mkdirat),
    Call(35, names::unlinkat),
    Call(36, names::symlinkat),
    Call(37, names::linkat),
    Call(38, names::renameat),
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
    Call(84, status::sync_file_range),
    Call(88, status::utimensat),
    Call(276, names::renameat2),
    Call(291, status::statx),
    Call(439, names::faccessat2),
]);

/// The calls that write nothing, as files are in memory alone: a library with a disk registers others
/// in their place.
pub static SYNC_CALLS: Calls = Calls(&[
    Call(81, status::sync),
    Call(82, status::fsync),
    Call(83, status::fsync),
    Call(267, status::syncfs),
]);
