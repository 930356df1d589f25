//! System calls of Linux for events of files.
//!
//! | module | subject |
//! |---|---|
//! | [`instance`] | `inotify_init1`, reading |
//! | [`watch`] | `inotify_add_watch`, `inotify_rm_watch`, changes of inodes |
//!
//! A watch belongs to an instance and to an inode, which has a chain of its watches, so that a change
//! costs time linear in the watches of that inode and of the directory above. Events wait in a queue
//! of their instance, which lies in frames.
//!
//! Guarantees: a user has at most 128 instances, and of all watches an eighth once half are used. An
//! instance keeps at most 4,096 events, then one states that others are lost.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod instance;
mod queue;
mod table;
pub mod watch;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(26, instance::inotify_init1),
    Call(27, watch::inotify_add_watch),
    Call(28, watch::inotify_rm_watch),
]);
