//! Hostile guest that attacks the resources of others and reports the outcomes.
//!
//! vCPU 1, the culprit, runs one attack after the other; vCPU 0, the judge, orders and reports them.
//! Each attack must have the outcome of its table entry. It is *contained* if the guest gets an answer,
//! takes an exception itself, or is regained from an endless loop by a restart. It is *stopped* if
//! Mortise stops the VM with a reason and restarts it. Any other outcome is reported as `UNEXPECTED`.
//! Random numbers are deterministic and differ in each round.
//!
//! | module | attacks |
//! |---|---|
//! | `memory` | loads, stores and fetches at any address; malformed translation tables |
//! | `gic`, `gicv2` | every register of the interrupt controller; blocking of Mortise's doorbell |
//! | `calls` | every hypercall, by HVC and by SMC |
//! | `registers`, `instructions` | every system register; forbidden and random instructions |
//! | `power` | CPU and system power calls; WFI; endless loops |
//! | `console` | forged lines, control bytes, a malformed log ring |

#![no_std]
#![expect(
    unsafe_code,
    reason = "it executes what no compiler would write, where it has no right to"
)]

pub mod attack;
mod authority;
pub mod calls;
mod code;
mod console;
pub mod gic;
mod gicv2;
mod instructions;
mod judge;
mod ledger;
mod machine;
pub mod memory;
mod places;
pub mod power;
mod random;
pub mod registers;

#[cfg(test)]
extern crate std;

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use ledger::{Ledger, RESERVED};
use tenon::environment;

/// This VM's memory, for the culprit, which does not run Tenon.
static MEMORY: [AtomicU64; 2] = [AtomicU64::new(0x4000_0000), AtomicU64::new(0x4020_0000)];

/// This VM's memory.
fn own_memory() -> Range<u64> {
    let [start, end] = &MEMORY;
    start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)
}

/// Scratch space of attacks: behind the ledger, at the end of memory.
fn scratch() -> u64 {
    own_memory().end - RESERVED + 0x1000
}

/// Starts vCPU 1 in `attacker` and puts this core to sleep. Returns in an unsuitable VM, after a line
/// with the reason.
pub fn unleash(attacker: extern "C" fn() -> !) {
    if !prepare() {
        return;
    }
    match machine::start(attacker) {
        Ok(()) => machine::rest(),
        Err(error) => tenon::log::error!("vCPU 1 does not start: {error:?}"),
    }
}

/// Masks this core's interrupts and records this VM's memory. Returns false in an unsuitable VM, after a
/// line with the reason.
fn prepare() -> bool {
    let guest = environment::guest().filter(|guest| guest.cpus() >= 2);
    let Some(memory) = guest.and_then(|guest| guest.memory()) else {
        tenon::log::error!("a hostile guest is a VM of two vCPUs");
        return false;
    };
    hw_arch::cpu::mask_interrupts();
    let [start, end] = &MEMORY;
    start.store(memory.start(), Ordering::Relaxed);
    let status = guest.and_then(|guest| guest.status());
    authority::STATUS.store(status.map_or(0, |range| range.start()), Ordering::Relaxed);
    end.store(memory.end(), Ordering::Relaxed);
    true
}

/// Main thread: becomes the judge.
pub fn main() {
    if !prepare() {
        return;
    }
    // SAFETY: the end of this VM's memory, far behind the image; the attacks' scratch space begins
    // a page later.
    let ledger = unsafe { Ledger::at(own_memory().end - RESERVED) };
    judge::judge(&ledger)
}
