//! Console: one serial line for all VMs.
//!
//! A VM with a virtual PL011 writes to the line directly. One with direct interrupts must not exit
//! to write: it fills a [log ring](log_drain) in its memory.
//!
//! The line's lock is held for one byte at a time, and on a shared core pending interrupts are
//! checked in between, so that no core waits for the line. Reports of Mortise are stored as a text
//! and its arguments ([`Machine::report`](mortise_machine::Machine::report)) and printed in steps: at once on
//! a pinned core, and on a shared core when no urgent vCPU is ready.

pub mod attach;
pub mod deferred;
pub mod input;
pub mod log_drain;
pub mod output;
pub mod pl011;
pub mod serial_irq;

pub use deferred::ConsoleAccess;
