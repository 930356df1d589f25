//! Self-test of VM life cycles by a manager.
//!
//! It prints a line for each case, `ok` or `FAILED`, and the number of failures.

#![no_std]
#![forbid(unsafe_code)]

mod cases;
mod guests;
mod hostile;

use support_vm_cases::{Case, run};

/// Consecutive lives in the longest case.
pub const CYCLES: u32 = 10_000;

const CASES: [Case; 12] = [
    ("it runs and turns itself off", cases::turns_off),
    ("its fault stops it", cases::faults),
    ("paused, it does nothing", cases::pauses),
    ("paused in any call, it goes on", cases::pauses_in_calls),
    ("each state has its calls", cases::states),
    ("restarted, it is as made", cases::restarts),
    ("a template is made by name", cases::instantiates),
    ("memory runs out and comes back", cases::exhausts),
    ("a handle names one life", cases::handles),
    ("calls without meaning are refused", hostile::nonsense),
    ("others are out of reach", hostile::foreign),
    ("lives follow each other", cases::cycles),
];

/// Main thread.
pub fn main() {
    match run(&CASES) {
        0 => tenon::log::info!("lifecycle-test: all cases hold"),
        failed => tenon::log::info!("lifecycle-test: {failed} cases FAILED"),
    }
}
