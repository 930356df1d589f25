//! POSIX threads: their table, their attributes, their end.
//!
//! A thread of C is a thread of Tenon with a [`Slot`](table::Slot) in a table: what POSIX knows of
//! it beyond its priority. Its stack comes from `malloc` or from the program; at the stack's end is
//! the thread's block of variables, whose first word leads back to the slot, so that
//! `pthread_self` takes three instructions. `pthread_t` names the slot and which of its threads is
//! meant, so that a stale one is recognised.
//!
//! All of it is behind one lock, [`table::LOCK`], which is masked interrupts on one core. What
//! allocates does so outside of it. Guarantees: making a thread looks for a free slot, one step for
//! each; everything else takes the same few instructions whatever the number of threads.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(unsafe_code, reason = "the C interface: pointers from C, stacks")]

pub mod attributes;
pub mod cancel;
pub mod create;
pub mod key;
pub mod schedule;
pub mod signals;
mod stack;
pub mod table;
pub mod thread;
pub mod wait;

pub use table::{Slot, current};

#[doc(hidden)]
pub use tenon_libc::define_table;
