//! System calls of Linux for copies between descriptors.
//!
//! | module | calls |
//! |---|---|
//! | [`copy`] | `sendfile`, `copy_file_range` |
//! | [`splice`] | `splice`, `tee`, `vmsplice` |
//!
//! `docs/linux-abi.md` lists each call with what it does not do.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod copy;
pub mod splice;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(71, copy::sendfile),
    Call(75, splice::vmsplice),
    Call(76, splice::splice),
    Call(77, splice::tee),
    Call(285, copy::copy_file_range),
]);
