//! A manager that kills what it manages at random moments, and has it begin anew.
//!
//! The moments come of [`SEED`] and of where the victim's deeds happen to be by then, so that they
//! fall into calls, faults, sleep and loops with all interrupts masked alike. A line says how often it
//! happened; whoever looks counts what the others noticed.

#![no_std]
#![forbid(unsafe_code)]

use tenon::time::{self, Duration};
use tenon_vm::{Error, Listed, Vm};

/// Where the moments begin.
const SEED: u64 = 0x7265_6170_6572_0000;
/// The longest life, in nanoseconds; each is as likely as any shorter one.
const LONGEST: u64 = 2_000_000;
/// Kills between two lines.
const TOLD: u64 = 10;

/// The main thread.
pub fn main() {
    match victim().and_then(reap) {
        Ok(()) => tenon::log::info!("FAILED: nobody to kill"),
        Err(error) => tenon::log::info!("FAILED: {error}"),
    }
}

/// The first VM that this one has authority over.
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

/// Kills it for ever; comes back if there is nobody, or a kill is refused.
fn reap(victim: Option<Vm>) -> Result<(), Error> {
    let mut kills = 0u64;
    while let Some(vm) = victim {
        time::sleep(Duration::from_nanos(drawn(kills) % LONGEST));
        match vm.restart() {
            Ok(_) => kills += 1,
            // It ended by itself just now, and its restart is under way.
            Err(Error::Busy) => {}
            Err(error) => return Err(error),
        }
        if kills.is_multiple_of(TOLD) {
            tenon::log::info!("{kills} kills");
        }
    }
    Ok(())
}

/// Number `index` of those that are drawn: SplitMix64 (Steele, Lea, Flood 2014).
const fn drawn(index: u64) -> u64 {
    let mut mixed = SEED.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
