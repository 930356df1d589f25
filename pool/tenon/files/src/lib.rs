//! Open files of processes: descriptions, descriptors, pipes.
//!
//! [`Files`] has the file tree, the open file descriptions of all processes and the pipes;
//! [`Descriptors`] are the numbers by which one process uses them. All of them lie in page frames,
//! so that none has a fixed part of the memory.
//!
//! Guarantees: a description is closed with its last reference, and an inode that is open is held.
//! What there is no memory for is an error, after which nothing is lost. No function locks or masks
//! interrupts; times are linear in the bytes that are copied or the descriptors that are closed.
//!
//! What has events is a source: threads wait for it as sets of bits, and an event wakes those that
//! can go on. Other libraries have objects of their own by [`Operations`].

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod descriptors;
mod memory;
mod open;
mod ring;

pub use descriptors::{Descriptor, Descriptors};
pub use memory::{Memory, Vector};
pub use open::{
    Change, Description, End, FileReference, Files, Locks, Object, Observer, Operations, PIPE_BUF,
    Side, Special, Step, Transfer, Watcher, event, ready,
};
pub use ring::Ring;

#[cfg(test)]
mod tests;
