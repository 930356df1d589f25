//! Storage of processes and their threads.
//!
//! [`Slot`] has what a thread of a process needs to run: its kernel stack, its control block and the
//! registers of EL0. [`Process`] and [`Thread`] are what `tenon-process` states of each behind its
//! mutex.
//!
//! Guarantees: no allocation, no loop, no lock. A slot that no thread uses takes no more than its
//! memory.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "stacks and registers of threads at EL0")]

mod budget;
mod clock;
mod deadline;
mod family;
mod fault;
pub mod first;
mod hook;
pub mod lend;
mod process;
mod scheduler;
mod served;
mod slot;
mod thread;
mod vector;
mod wake;

pub use clock::{
    nanoseconds, prepare_vdso, real_nanoseconds, real_time, real_time_of_start, set_real_time,
};
pub use deadline::Service;
pub use family::{
    Children, Wanted, begin_session, collect, heir, index_of_number, is_orphaned, set_group,
};
pub use fault::Fault;
pub use hook::{Hook, Hooks};
pub use process::{Change, End, EndOf, NAME, Process, SIGCHLD};
pub use scheduler::Scheduler;
pub use served::{NUMBERS, is_chosen, served, serves, table_size};
pub use slot::{Slot, Stack, descriptor_limit, index_of, limit, slots, slots_of};
pub use thread::{FutexWait, Key, NewThread, Thread, Waiting};
pub use vector::Vectors;
pub use wake::WakeOperation;
