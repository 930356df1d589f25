//! Managers of virtual machines whose calls meet each other, and storms of interrupts.
//!
//! One that has authority tries it: on two cores of its own, about machines with a vCPU on each of two
//! cores that others share. One that has none is such a machine, and shows that both of its vCPUs run.
//! A line for each case says `ok` or `FAILED`, a last one the sum.

#![no_std]
#![forbid(unsafe_code)]

mod both;
mod guest;
mod model;
mod races;
mod storm;

use hw_arch::firmware::{Hvc, system_off};
use tenon::time::{self, Duration};
use tenon_vm::{Error, Totals};

/// What comes of a case: false if something is not as promised.
type Outcome = Result<bool, Error>;

/// What is tried, by the name that it is told by.
type Case = (&'static str, fn() -> Outcome);

const CASES: [Case; 6] = [
    ("in a storm each call ends, once", storm::calls),
    ("held on two shared cores", both::held),
    ("gone from two shared cores", both::gone),
    ("calls meet about one of a file", races::of_files),
    ("calls meet about one of a template", races::of_templates),
    ("calls meet about one of the system", races::of_residents),
];

/// The main thread.
pub fn main() {
    match Totals::read() {
        Ok(before) => judge(before),
        Err(_) => guest::run(),
    }
}

fn judge(before: Totals) {
    let mut failed = 0;
    for (name, case) in CASES {
        match case() {
            Ok(true) if Totals::read() == Ok(before) => tenon::log::info!("ok {name}"),
            Ok(true) => {
                failed += 1;
                tenon::log::info!("FAILED {name}: {before:?} became {:?}", Totals::read());
            }
            Ok(false) => {
                failed += 1;
                tenon::log::info!("FAILED {name}");
            }
            Err(error) => {
                failed += 1;
                tenon::log::info!("FAILED {name}: {error}");
            }
        }
    }
    tenon::log::info!("lifecycle-race-test: {failed} cases FAILED");
    // With the last VM the machine goes off, when all is said.
    time::sleep(Duration::from_millis(50));
    if let Ok(vm) = races::resident() {
        let _gone = vm.destroy();
    }
    system_off::<Hvc>()
}
