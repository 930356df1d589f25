//! System calls of Linux for asynchronous input and output.
//!
//! | module | calls |
//! |---|---|
//! | [`context`] | `io_setup`, `io_destroy`, `io_getevents`, `io_pgetevents`, `io_cancel` |
//! | [`submit`] | `io_submit` |
//!
//! Files are in memory: an operation is complete when its submission returns, and its event is in the
//! queue of its context then, a file without a name whose pages are those of processes. A context has
//! the address of a page of its process, as in Linux, which has no content.
//!
//! Guarantees: a context is that of one program of one process, and is removed with that process. All
//! contexts have at most 65,536 events, those of one process half of them. What there is no memory for
//! is an error that changes nothing.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod context;
pub mod submit;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(0, context::io_setup),
    Call(1, context::io_destroy),
    Call(2, submit::io_submit),
    Call(3, context::io_cancel),
    Call(4, context::io_getevents),
    Call(292, context::io_pgetevents),
]);
