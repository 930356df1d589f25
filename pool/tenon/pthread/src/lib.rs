//! POSIX threads and their synchronisation objects (POSIX.1-2017, `<pthread.h>` and `<sched.h>`).
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
//! | [`signals`] | pending signals of a thread |
//! | [`mutex`], `condition`, `rwlock`, `barrier`, `spin`, `once` | synchronisation objects |
//!
//! A synchronisation object lies in the program's memory: one of zeros is a static initialiser, and is
//! initialised at its first use. Mutexes and condition variables add types, counts, error numbers and
//! cancellation to [`RawMutex`](tenon_sync::raw::RawMutex), which provides priority inheritance,
//! ceilings, robustness and the order of waiters. The other objects hand over to the most urgent
//! waiter, and to the one that has waited longest among equals. A spin lock blocks its waiters, as its
//! owner must run on the same core.
//!
//! # Guarantees
//!
//! The thread table is protected by one lock, [`table::LOCK`], which masks interrupts on one core;
//! memory is allocated outside of it. Creating a thread searches for a free slot, one step for each;
//! all other operations on threads take the same number of instructions whatever the number of
//! threads. Locking and unlocking a mutex without contention does not call the scheduler. Timeouts
//! are absolute.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C interface: pointers from C, stacks, objects in the program's memory"
)]

pub mod attributes;
mod barrier;
mod calls;
pub mod cancel;
mod cancel_state;
pub mod cleanup;
mod condition;
pub mod create;
pub mod exit;
pub mod join;
pub mod key;
pub mod mutex;
mod once;
pub mod policy;
mod rwlock;
pub mod schedule;
mod shared;
pub mod signals;
mod spin;
mod stack;
pub mod table;
pub mod wait;

pub use table::{Slot, current};

#[doc(hidden)]
pub use tenon_libc::define_table;
