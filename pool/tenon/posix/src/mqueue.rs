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

pub mod attributes;
pub mod calls;
mod channel;
mod flags;
pub mod queue;
pub mod store;
pub mod table;

pub use queue::Queue;
pub use table::Descriptor;
