//! Ticket dispenser: a group of hypercalls from a library outside the pool.
//!
//! The function [`TAKE`] returns consecutive 64-bit numbers, each of them once. It takes constant time
//! and no lock.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering};
use mortise_hypercall::{Call, Caller, Group, Outcome, Reply};

/// Draws a number: a fast call with 64-bit arguments of the range of vendor-specific hypervisor
/// services (SMCCC, 6.3).
pub const TAKE: u32 = 0xc600_8000;

/// The group of hypercalls.
pub const GROUP: Group = Group {
    name: "tickets",
    brief: None,
    ranges: &[(TAKE, TAKE)],
    handle,
};

static TAKEN: AtomicU64 = AtomicU64::new(0);

fn handle(_: &Call, _: &mut dyn Caller) -> Outcome {
    Outcome::Return(Reply::value(TAKEN.fetch_add(1, Ordering::Relaxed) + 1))
}
