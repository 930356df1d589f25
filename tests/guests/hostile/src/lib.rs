//! A guest that attacks whatever is not its own, and says what came of it.
//!
//! vCPU 1, the culprit, tries one attack after the other; vCPU 0, the judge, orders them and reports.
//! Every attack must end in one of the ways its table entry names: *contained*, when the guest is
//! answered, takes an exception itself or is called back from an endless run; *stopped*, when
//! Mortise ends the VM with a reason and restarts it. Anything else is reported as `UNEXPECTED`.
//! The numbers are pseudo-random and repeat; each round has others.
//!
//! | module | attacks |
//! |---|---|
//! | `memory` | loads, stores and fetches anywhere; tables that lie |
//! | `gic`, `gicv2` | every register of the interrupt controller; deafness to the doorbell |
//! | `calls` | every hypercall, by HVC and by SMC |
//! | `registers`, `instructions` | every system register; forbidden and random instructions |
//! | `power` | starting, stopping, sleeping, spinning |
//! | `console` | forged lines, control bytes, a log ring that lies |

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

/// This VM's memory, for the culprit, which is no core of Tenon's.
static MEMORY: [AtomicU64; 2] = [AtomicU64::new(0x4000_0000), AtomicU64::new(0x4020_0000)];

/// This VM's memory.
fn own_memory() -> Range<u64> {
    let [start, end] = &MEMORY;
    start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)
}

/// Where attacks may write: behind the ledger, at the end of memory.
fn scratch() -> u64 {
    own_memory().end - RESERVED + 0x1000
}

/// Has vCPU 1 begin in `attacker`; this core rests. Returns, with a line that says why, from a VM
/// that does not serve.
pub fn unleash(attacker: extern "C" fn() -> !) {
    if !prepare() {
        return;
    }
    match machine::start(attacker) {
        Ok(()) => machine::rest(),
        Err(error) => tenon::log::error!("vCPU 1 does not start: {error:?}"),
    }
}

/// Masks this core's interrupts and notes what is this VM's. False, with a line that says why, in a
/// VM that does not serve.
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

/// The main thread: becomes the judge.
pub fn main() {
    if !prepare() {
        return;
    }
    // SAFETY: the end of this VM's memory, far behind the image; the attacks' scratch space begins
    // a page later.
    let ledger = unsafe { Ledger::at(own_memory().end - RESERVED) };
    judge::judge(&ledger)
}
