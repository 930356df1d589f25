//! Synchronisation objects of POSIX: mutexes, condition variables, read-write locks, barriers, spin
//! locks, one-time initialisation and semaphores.
//!
//! # Purpose
//!
//! An object lies in the program's memory: one of zeros is a static initialiser, and is initialised at
//! its first use. Mutexes and condition variables add types, counts, error numbers and cancellation to
//! [`RawMutex`](tenon_sync::raw::RawMutex), which provides priority inheritance, ceilings, robustness
//! and the order of waiters. The other objects hand over to the most urgent waiter, and to the one that
//! has waited longest among equals. A spin lock blocks its waiters, as its owner must run on the same
//! core.
//!
//! # Guarantees
//!
//! Locking and unlocking a mutex without contention does not call the scheduler. Posting a semaphore
//! neither blocks nor allocates. Timeouts are absolute. No allocation.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C interface: objects in the program's memory"
)]

mod barrier;
mod calls;
mod condition;
mod mutex;
mod once;
mod rwlock;
mod semaphore;
mod shared;
mod spin;

pub use semaphore::SEM_VALUE_MAX;
