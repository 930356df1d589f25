//! A guest that keeps its core from whoever wants it back.
//!
//! What it does the name of its VM says, as each way is tried on its own and nothing else remembers
//! which one it is:
//!
//! | name | |
//! |---|---|
//! | `masked…` | masks all interrupts |
//! | `closed…` | turns Group 1 off, too (`ICC_IGRPEN1_EL1` = 0) |
//! | `deaf…` | claims the highest priority to be active, too (`ICC_AP1R0_EL1` = 1) |
//! | `…asleep` | sleeps in WFI; without, it spins |

#![no_std]
#![forbid(unsafe_code)]

use hw_arch::{barrier, cpu, registers};
use tenon::environment;

/// The main thread, which never ends.
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
            // The emulator lets others go on at it; one that does not has a slice of 100 ms each time.
            cpu::relax();
        }
    }
}
