//! System calls of Linux for the creation of processes and threads, and for what they share.
//!
//! | module | calls |
//! |---|---|
//! | [`create`] | `clone`, `clone3` |
//! | [`share`] | `unshare`, `setns` |
//!
//! A thread shares all of its process, a process its open files at most: what Linux would have two
//! processes share beyond that is `EINVAL`. There are no namespaces but that of mounts, which no call
//! changes.
//!
//! Guarantees: a creation that fails changes nothing. Its flags are those of Linux with the errors of
//! Linux, in its order.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod create;
mod flag;
pub mod share;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(97, share::unshare),
    Call(220, create::clone),
    Call(268, share::setns),
    Call(435, create::clone3),
]);
