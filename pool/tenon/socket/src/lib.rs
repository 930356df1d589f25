//! Local sockets of processes: streams, datagrams and sequenced packets.
//!
//! [`Sockets`] has all sockets, their names, and what is sent and not received: bytes in a ring of each
//! receiver, and the descriptions and credentials that go with them. A library of system calls gives
//! sockets descriptors, and waits where a function has nothing yet.
//!
//! Descriptions in flight are limited in number. Sockets that only other sockets in flight refer to
//! are found by a search from those that have descriptors, and emptied ([`Sockets::sweep`]).
//!
//! Guarantees: what there is no memory for is an error, after which nothing is lost. No function
//! recurses, locks or masks interrupts; times are linear in the bytes that are copied and in the
//! sockets where a search is needed.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod sockets;

pub use sockets::{
    Credentials, Kind, Name, NameKind, Received, Sending, Settings, Socket, Sockets, State,
};

/// Bytes of a name at most.
pub const NAME: usize = 108;
/// Bytes of a send buffer, as Linux has it by default.
pub const BUFFER: u32 = 212_992;

#[cfg(test)]
mod tests;
