//! Guest that never yields its core.
//!
//! The name of its VM selects the behaviour:
//!
//! | name | |
//! |---|---|
//! | `masked…` | masks all interrupts |
//! | `closed…` | also disables Group 1 (`ICC_IGRPEN1_EL1` = 0) |
//! | `deaf…` | also sets the highest priority active (`ICC_AP1R0_EL1` = 1) |
//! | `…asleep` | waits in WFI; otherwise it spins |

#![no_std]
#![forbid(unsafe_code)]

use hw_arch::{barrier, cpu, registers};
use tenon::environment;

/// Main thread, which never ends.
pub fn main() {
    let name = environment::guest().map_or("", |guest| guest.name());
    let asleep = name.ends_with("asleep");
    cpu::mask_interrupts();
    if name.starts_with("closed") {
        registers::icc_igrpen1_el1::write(0);
    }
    if name.starts_with("deaf") {
        registers::icc_ap1r0_el1::write(1);
    }
    barrier::isb();
    loop {
        if asleep {
            cpu::wait_for_interrupt();
        } else {
            // The emulator switches cores here; otherwise it runs a core for 100 ms at a time.
            cpu::relax();
        }
    }
}
