//! Deadlines of processes in one order, and interval timers.
//!
//! Sleeps, timeouts and timers of all processes are in one [`Deadlines`], of which a single timer of
//! the kernel serves the earliest: were each a timer of the kernel, as many as expire at one instant
//! would lengthen the interrupt by which a real-time thread is released.
//!
//! [`Interval`] is the state of a timer with a period: its next expiry, and how many it has missed.
//!
//! Guarantees: starting, cancelling and expiring take time logarithmic in the pending deadlines.
//! No function locks, allocates or masks interrupts.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod heap;
mod interval;

pub use heap::{Deadlines, Place};
pub use interval::Interval;

#[cfg(test)]
mod tests;
