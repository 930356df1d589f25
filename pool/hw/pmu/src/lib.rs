//! PMU of the core: its cycle counter, for measuring short paths, and one [event] counter.
//!
//! [event]: count_guests
//!
//! Guarantees: [`cycles`] is one instruction, without a barrier, in any context. In the emulator's
//! deterministic mode (`-icount shift=0`) a cycle is an instruction; on hardware a core that
//! executes out of order may read the counter early by what it has in flight.
//!
//! ```no_run
//! hw_pmu::start();
//! let begun = hw_pmu::begin();
//! // ... the path ...
//! let taken = hw_pmu::end().wrapping_sub(begun);
//! ```
//!
//! [`begin`] and [`end`] also mark their positions: the plugin of `bench/plugin`, which counts from
//! outside, sees the same path, and both must agree.

#![no_std]
#![forbid(unsafe_code)]

use hw_arch::mark;
use hw_arch::registers::{
    pmccfiltr_el0, pmccntr_el0, pmceid0_el0, pmcntenset_el0, pmcr_el0, pmevcntr0_el0,
    pmevtyper0_el0,
};

/// PMCR_EL0.E and .LC: counters on, the cycle counter 64 bits long (Arm ARM, D19.5).
const ENABLE_LONG: u64 = 1 | 1 << 6;
/// PMCNTENSET_EL0.P0: the first event counter's bit.
const FIRST_COUNTER: u64 = 1;
/// PMCNTENSET_EL0.C: the cycle counter's bit.
const CYCLE_COUNTER: u64 = 1 << 31;

/// Starts the cycle counter of this core, at EL0 and EL1.
pub fn start() {
    pmccfiltr_el0::write(0);
    pmcntenset_el0::write(CYCLE_COUNTER);
    pmcr_el0::write(ENABLE_LONG);
    hw_arch::barrier::isb();
}

/// The cycles counted so far.
#[inline(always)]
#[must_use]
pub fn cycles() -> u64 {
    pmccntr_el0::read()
}

/// The cycles counted so far, at the start of a measured path.
#[inline(always)]
#[must_use]
pub fn begin() -> u64 {
    mark::begin()
}

/// The cycles counted so far, at the end of a measured path.
#[inline(always)]
#[must_use]
pub fn end() -> u64 {
    mark::end()
}

/// Whether this core has an event counter that counts this common event, one of the first 32
/// (D11.11).
#[must_use]
pub fn can_count(event: u32) -> bool {
    let counters = pmcr_el0::read() >> 11 & 0x1f;
    event < 32 && counters > 0 && pmceid0_el0::read() >> event & 1 != 0
}

/// Counts an event from now on, at EL1 and EL0 but not at EL2: PMEVTYPER0_EL0 has no NSH (D19.5).
pub fn count_guests(event: u32) {
    pmevtyper0_el0::write(event.into());
    pmcntenset_el0::write(FIRST_COUNTER);
    pmcr_el0::write(ENABLE_LONG);
    hw_arch::barrier::isb();
}

/// The events counted so far; it wraps.
#[must_use]
pub fn events() -> u32 {
    pmevcntr0_el0::read() as u32
}

#[cfg(test)]
mod tests {
    #[test]
    fn counters_read_zero_on_the_host() {
        super::start();
        assert_eq!((super::begin(), super::end()), (0, 0));
        super::count_guests(8);
        assert_eq!((super::events(), super::can_count(8)), (0, false));
    }
}
