//! Test of concurrent life-cycle calls, and of calls during interrupt storms.
//!
//! The manager has authority and two cores of its own; the VMs that it manages have a vCPU on each of two
//! shared cores. Without authority, this application is such a VM and shows that both vCPUs run. The
//! manager prints a line for each case, `ok` or `FAILED`, and the number of failures.

#![no_std]
#![forbid(unsafe_code)]

mod both;
mod guest;
mod model;
mod races;
mod storm;

use hw_arch::firmware::{Hvc, system_off};
use support_vm_cases::{Case, run};
use tenon::time::{self, Duration};
use tenon_vm::{Error, Totals};

/// Result of a case: false if it failed.
type Outcome = Result<bool, Error>;

const CASES: [Case; 6] = [
    ("in a storm each call ends, once", storm::calls),
    ("held on two shared cores", both::held),
    ("gone from two shared cores", both::gone),
    ("calls meet about one of a file", races::of_files),
    ("calls meet about one of a template", races::of_templates),
    ("calls meet about one of the system", races::of_residents),
];

/// Main thread.
pub fn main() {
    match Totals::read() {
        Ok(_) => judge(),
        Err(_) => guest::run(),
    }
}

fn judge() {
    let failed = run(&CASES);
    tenon::log::info!("lifecycle-race-test: {failed} cases FAILED");
    // The machine turns off with the last VM; the output is complete before.
    time::sleep(Duration::from_millis(50));
    if let Ok(vm) = races::resident() {
        let _gone = vm.destroy();
    }
    system_off::<Hvc>()
}
