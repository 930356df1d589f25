//! POSIX message queues.
//!
//! A queue has a name and a fixed number of messages of a fixed size, which lie in memory from
//! `malloc`; a message has one of 32 priorities. [`store`] holds the messages of a queue, [`queue`]
//! lets threads wait for them, [`table`] knows queues by name and descriptors by number, [`calls`]
//! is what C sees. A queue that the system declares as a channel leads to another VM ([`channel`]).
//!
//! Guarantees: putting and taking a message are O(1), whatever the number of messages, priorities
//! and threads, but for one step for each less urgent thread that waits already. A message is copied
//! with interrupts on. What is free or has come goes to the most urgent thread that waits for it,
//! and nobody who comes later takes it first (POSIX.1-2017, `mq_send` and `mq_receive`).

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C interface: pointers from C, messages in memory from malloc"
)]

pub mod attributes;
pub mod calls;
mod channel;
pub mod queue;
pub mod store;
pub mod table;

pub use queue::Queue;
pub use table::Descriptor;

#[doc(hidden)]
pub use tenon_libc::define_table;
