//! Manager that restarts a VM at random moments.
//!
//! The moments derive from [`SEED`]. They fall into hypercalls, faults, WFI, and loops with all
//! interrupts masked. A line reports the number of restarts; the bench counts the effects on other VMs.

#![no_std]
#![forbid(unsafe_code)]

use tenon::time::{self, Duration};
use tenon_vm::{Error, Listed, Vm};

/// Seed of the moments.
const SEED: u64 = 0x7265_6170_6572_0000;
/// Maximum length of a life in ns; lengths are uniformly distributed.
const LONGEST: u64 = 2_000_000;
/// Restarts per line of output.
const TOLD: u64 = 10;

/// Main thread.
pub fn main() {
    match victim().and_then(reap) {
        Ok(()) => tenon::log::info!("FAILED: nobody to kill"),
        Err(error) => tenon::log::info!("FAILED: {error}"),
    }
}

/// The first managed VM.
fn victim() -> Result<Option<Vm>, Error> {
    let mut slot = 0;
    loop {
        match Listed::at(slot) {
            Ok(Some(listed)) => return Ok(Some(listed.vm)),
            Ok(None) => slot += 1,
            Err(Error::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// Restarts it for ever; returns if there is no VM or a restart is refused.
fn reap(victim: Option<Vm>) -> Result<(), Error> {
    let mut kills = 0u64;
    while let Some(vm) = victim {
        time::sleep(Duration::from_nanos(drawn(kills) % LONGEST));
        match vm.restart() {
            Ok(_) => kills += 1,
            // It has just stopped by itself, and its restart is in progress.
            Err(Error::Busy) => {}
            Err(error) => return Err(error),
        }
        if kills.is_multiple_of(TOLD) {
            tenon::log::info!("{kills} kills");
        }
    }
    Ok(())
}

/// Random number `index`: SplitMix64 (Steele, Lea, Flood 2014).
const fn drawn(index: u64) -> u64 {
    let mut mixed = SEED.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
