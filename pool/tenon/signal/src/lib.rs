//! Signals of processes: sets, actions, queues, and the frame of a handler.
//!
//! | module | what |
//! |---|---|
//! | [`set`](Set) | sets of signals, their numbers |
//! | [`action`](Action) | actions, and what the default one does |
//! | [`info`](Info) | `siginfo_t` |
//! | [`queue`](Pending) | pending signals in the order in which they are delivered |
//! | [`signals`](Signals) | what each process and each thread has |
//! | [`frame`] | the frame of a handler, as Linux has it for AArch64 |
//!
//! This library decides nothing about threads: `tenon-process` sends, delivers, stops and ends.
//!
//! Guarantees: a process has [`QUEUED`] queued signals at most; what there is no memory for is an
//! error for real-time signals with a value, and a signal without its information else. A signal
//! below 32 is queued once. Any bytes are a frame or none, and no frame changes more than the
//! registers of EL0 and the mask.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod action;
mod alternate_stack;
pub mod frame;
mod info;
mod queue;
mod set;
mod signals;

pub use action::{Action, Effect, flag};
pub use alternate_stack::AlternateStack;
pub use info::{Info, code};
pub use queue::{Entries, Full, Pending};
pub use set::{SIGNALS, Set, number};
pub use signals::{Own, QUEUED, Shared, Signals, Target};

#[cfg(test)]
mod tests;
