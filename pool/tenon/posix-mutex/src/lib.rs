//! Mutexes and condition variables of POSIX threads.
//!
//! What is POSIX about them, types, counts, error numbers and cancelling, around the raw mutex and
//! condition variable of Tenon: priority inheritance, ceilings, robustness and the order of who
//! waits are theirs. An object is the program's memory: one of zeros is a static initialiser, and is
//! made when it is first used.
//!
//! Guarantees: as for [`RawMutex`](tenon_sync::raw::RawMutex); while nobody waits, neither locking
//! nor unlocking calls the scheduler. Times are absolute.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C interface: objects in the program's memory"
)]

mod attributes;
mod condition;
mod locking;
mod mutex;

pub use mutex::Mutex;
