//! The fixed-priority scheduler of both kernels.
//!
//! [`RunQueue`] holds what is ready, by priority; [`Scheduler`] adds who runs, and decides who
//! runs next: Algorithm 1 of the TenonOS paper (section 4.3). It is generic over the
//! [`Schedulable`], so that a thread of Tenon and a vCPU of Mortise meet one scheduler.
//!
//! Guarantees: 64 priorities, first in first out within a priority; every operation is O(1),
//! without allocation or lock. The caller has interrupts masked, or holds the lock of its core;
//! switching contexts is the caller's work too.

#![no_std]
#![forbid(unsafe_code)]

mod queue;
mod scheduler;

#[cfg(test)]
mod tests;

pub use queue::{Priority, RunQueue, Schedulable, State};
pub use scheduler::Scheduler;
