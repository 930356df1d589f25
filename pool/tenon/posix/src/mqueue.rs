//! POSIX message queues (POSIX.1-2017, `<mqueue.h>`).
//!
//! A queue has a name and a fixed number of messages of a fixed size, in memory from `malloc`; a
//! message has one of 32 priorities. [`store`] holds the messages of a queue, [`queue`] adds
//! blocking, [`table`] maps names to queues and descriptors to open queues, [`calls`] is the
//! interface for C. A queue that the system declares as a channel leads to another VM
//! ([`channel`]).
//!
//! Guarantees: sending and receiving are O(1) in the number of messages, priorities and threads,
//! but for one step for each less urgent waiter. A message is copied with interrupts enabled. A
//! free or new message goes to the most urgent waiter; a thread that comes later cannot take it
//! first (POSIX.1-2017, `mq_send` and `mq_receive`).

pub mod attributes;
pub mod calls;
mod channel;
mod flags;
pub mod queue;
pub mod store;
pub mod table;

pub use queue::Queue;
pub use table::Descriptor;
