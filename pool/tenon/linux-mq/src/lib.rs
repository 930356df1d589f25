//! System calls of Linux for message queues of POSIX.
//!
//! | module | calls |
//! |---|---|
//! | [`queue`] | `mq_open`, `mq_unlink`, `mq_getsetattr` |
//! | [`message`] | `mq_timedsend`, `mq_timedreceive` |
//! | [`notify`] | `mq_notify` |
//!
//! The queues have names of their own, which are no files. A queue lies in a page frame with the order
//! of its messages; their bytes lie in a file without a name, whose pages are those of processes.
//!
//! Guarantees: the message of the highest priority is received first, the oldest one of those. Sending
//! and receiving take time linear in the messages of the queue, 256 at most, and in the descriptors of
//! the queue. The queues of a user are bounded by `RLIMIT_MSGQUEUE`. All memory of a queue is free
//! again once its name is removed and its last descriptor closed. What there is no memory for is an
//! error that changes nothing.
//!
//! `docs/linux-abi.md` lists each call with what it does not do.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod message;
pub mod notify;
mod order;
pub mod queue;
mod table;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(180, queue::mq_open),
    Call(181, queue::mq_unlink),
    Call(182, message::mq_timedsend),
    Call(183, message::mq_timedreceive),
    Call(184, notify::mq_notify),
    Call(185, queue::mq_getsetattr),
]);
