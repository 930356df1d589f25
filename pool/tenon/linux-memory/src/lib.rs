//! System calls of Linux for memory of processes.
//!
//! | module | calls |
//! |---|---|
//! | [`mapping`] | `mmap`, `munmap`, `mprotect`, `brk` |
//! | [`remap`] | `mremap` |
//! | [`advice`] | `madvise`, `mincore`, `msync`, `mlock` and its relatives, `fadvise64`, `readahead` |
//! | [`memory_file`] | `memfd_create` |
//!
//! Guarantees: no page is writable and executable, nor are two mappings of one object where one of them
//! writes it. A call that fails changes nothing, apart from those that Linux states to be done in
//! part. Long ranges are served in steps, between which the state of processes is free.
//!
//! `docs/linux-abi.md` lists each call with what it does not do.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod advice;
pub mod mapping;
pub mod memory_file;
mod range;
pub mod remap;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(213, advice::readahead),
    Call(214, mapping::brk),
    Call(215, mapping::munmap),
    Call(216, remap::mremap),
    Call(222, mapping::mmap),
    Call(223, advice::fadvise64),
    Call(226, mapping::mprotect),
    Call(227, advice::msync),
    Call(228, advice::mlock),
    Call(229, advice::munlock),
    Call(230, advice::mlockall),
    Call(231, advice::munlockall),
    Call(232, advice::mincore),
    Call(233, advice::madvise),
    Call(234, remap::remap_file_pages),
    Call(279, memory_file::memfd_create),
    Call(284, advice::mlock2),
]);
