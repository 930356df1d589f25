//! Test cases of an application that manages VMs.
//!
//! Each case prints a line, `ok` or `FAILED`. A case leaves no VM and no memory in use behind: it fails
//! if the [totals](tenon_vm::Totals) of all VMs differ afterwards. A failed case does not end the run.
//! No allocation.

#![no_std]
#![forbid(unsafe_code)]

use core_log::info;
use tenon_vm::{Error, Totals};

/// A case and its name. It returns false, or an error, on failure.
pub type Case = (&'static str, fn() -> Result<bool, Error>);

/// Runs all cases in order; returns the number of failed ones.
pub fn run(cases: &[Case]) -> usize {
    let before = Totals::read();
    let mut failed = 0;
    for (name, case) in cases {
        match case() {
            Ok(true) if Totals::read() == before => {
                info!("ok {name}");
                continue;
            }
            Ok(true) => info!("FAILED {name}: {before:?} became {:?}", Totals::read()),
            Ok(false) => info!("FAILED {name}"),
            Err(error) => info!("FAILED {name}: {error}"),
        }
        failed += 1;
    }
    failed
}
