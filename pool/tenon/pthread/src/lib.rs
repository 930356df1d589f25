//! POSIX threads and signals (POSIX.1-2017, `<pthread.h>`, `<sched.h>` and `<signal.h>`).
//!
//! # Purpose
//!
//! A thread of C is a thread of Tenon with a [`Slot`] in a table, which holds what POSIX defines
//! beyond the priority. The stack comes from `malloc` or from the program. The thread-local storage
//! block lies at the stack's end, and its first word points to the slot, so that `pthread_self` takes
//! three instructions. A `pthread_t` is the number of the slot and of its use, so that a stale one is
//! detected.
//!
//! | modules | subject |
//! |---|---|
//! | [`attributes`], [`create`], [`exit`], [`join`] | life cycle of a thread |
//! | [`table`], [`wait`] | the thread table; waits that a signal or a cancellation request interrupts |
//! | [`policy`], [`schedule`] | scheduling policies and priorities |
//! | [`cancel`], [`cleanup`], [`key`] | cancellation, cleanup handlers, thread-specific data |
//! | [`pending`], [`signal`] | pending signals of a thread; signals |
//!
//! # Guarantees
//!
//! The thread table is protected by one lock, [`table::LOCK`], which masks interrupts on one core;
//! memory is allocated outside of it. Creating a thread searches for a free slot, one step for each;
//! all other operations on threads take the same number of instructions whatever the number of
//! threads.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C interface: pointers and handlers from C, stacks"
)]

pub mod attributes;
pub mod cancel;
mod cancel_state;
pub mod cleanup;
pub mod create;
pub mod exit;
pub mod join;
pub mod key;
pub mod pending;
pub mod policy;
pub mod schedule;
pub mod signal;
mod stack;
pub mod table;
pub mod wait;

pub use table::{Slot, current};

#[doc(hidden)]
pub use tenon_libc::define_table;
