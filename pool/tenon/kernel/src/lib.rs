//! State of a core, its threads, timers, wait queues and mutexes.
//!
//! | module | content |
//! |---|---|
//! | [`kernel`] | the scheduler, timers and interrupt table of a core; switches, slices, budgets, other cores |
//! | [`thread`] | the control block of a thread, and its server |
//! | [`time`] | timers and the queue of a core's timers |
//! | [`wait`] | wait queues, the owner of a mutex, priority inheritance |
//!
//! The types refer to each other, so that they are one crate. Code reaches them by a reference to a
//! [`kernel::Kernel`], which exists only with interrupts masked. Applications do not use this crate:
//! `tenon-time`, `tenon-wait` and `tenon-thread` have types of the same names with the operations
//! that are safe for them (`docs/decisions/tenon-crates.md`).
//!
//! Guarantees: no function allocates. The path from an interrupt to a thread has no lock and no
//! loop without a constant bound. With several cores each has its own kernel, and a shared object
//! has its own lock (`docs/decisions/smp.md`); an image for one core contains none of that.

#![no_std]
#![expect(
    unsafe_code,
    reason = "state of a core behind masked interrupts, context switch"
)]

pub mod kernel;
pub mod thread;
pub mod time;
pub mod wait;

#[cfg(not(target_os = "none"))]
#[doc(hidden)]
pub mod testing;

#[cfg(test)]
mod tests;
