//! System calls of Linux for programs of AArch64.
//!
//! | module | calls |
//! |---|---|
//! | [`file`] | opening files, descriptors |
//! | [`handle`] | handles of files |
//! | [`event`] | waiting for several descriptors |
//! | [`seek`] | offsets of descriptors |
//! | [`transfer`] | reading and writing: files, pipes, console |
//! | [`vector`] | reading and writing with several buffers |
//! | [`process`] | programs and end of processes |
//! | [`identity`] | numbers of a process |
//! | [`time`] | clocks, sleep |
//!
//! `docs/linux-abi.md` lists each call with what it does not do. Numbers and structures are those of
//! Linux for AArch64 (`uapi/asm-generic`).

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod direct;
pub mod event;
pub mod file;
pub mod handle;
pub mod identity;
pub mod process;
pub mod request;
pub mod seek;
pub mod time;
pub mod transfer;
pub mod vector;
pub mod wait;

use tenon_linux_files as _;
use tenon_linux_memory as _;
use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(23, file::dup),
    Call(24, file::dup3),
    Call(29, request::ioctl),
    Call(50, file::fchdir),
    Call(56, file::openat),
    Call(57, file::close),
    Call(59, file::pipe2),
    Call(61, file::getdents64),
    Call(62, seek::lseek),
    Call(63, transfer::read),
    Call(64, transfer::write),
    Call(65, vector::readv),
    Call(66, vector::writev),
    Call(67, transfer::pread64),
    Call(68, transfer::pwrite64),
    Call(69, vector::preadv),
    Call(70, vector::pwritev),
    Call(72, event::pselect6),
    Call(73, event::ppoll),
    Call(93, process::exit),
    Call(94, process::exit_group),
    Call(96, process::set_tid_address),
    Call(101, time::nanosleep),
    Call(113, time::clock_gettime),
    Call(114, time::clock_getres),
    Call(115, time::clock_nanosleep),
    Call(166, identity::umask),
    Call(169, time::gettimeofday),
    Call(172, identity::getpid),
    Call(173, identity::getppid),
    Call(178, identity::gettid),
    Call(221, process::execve),
    Call(264, handle::name_to_handle_at),
    Call(265, handle::open_by_handle_at),
    Call(281, process::execveat),
    Call(286, vector::preadv2),
    Call(287, vector::pwritev2),
    Call(293, identity::absent),
    Call(436, file::close_range),
    Call(437, file::openat2),
]);
