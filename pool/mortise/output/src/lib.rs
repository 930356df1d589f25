//! Output on the serial line: of guests, of their log rings, and reports of their faults.
//!
//! A VM with direct interrupts must not exit to write: it fills a [log ring](log_drain) in its
//! memory. All other output passes [`output`].
//!
//! The line's lock is held for one byte at a time, and on a shared core pending interrupts are
//! checked in between, so that no core waits for the line. Reports of Mortise are stored as a text
//! and its arguments ([`Machine::report`](mortise_machine::Machine::report)) and printed in steps:
//! at once on a pinned core, and on a shared core when no urgent vCPU is ready.
#![cfg_attr(target_os = "none", no_std)]
#![expect(unsafe_code, reason = "the UART is opened at its address")]

pub mod fault_report;
pub mod log_drain;
pub mod output;
