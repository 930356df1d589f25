//! Storm of simultaneous interrupts, each of which must be delivered once.
//!
//! The handler of one SGI sends all other SGIs to its own core: fourteen are pending at once, with four
//! list registers. The hypervisor must list the others as list registers become free, and lose none.
//! A line is printed after each [`STEP`] storms.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use hw_irqchip_gicv3::{Group, cpu_interface};
use tenon::irq::{self, Trigger};
use tenon::log::{error, info};
use tenon::time::{self, Duration};

/// The SGI with the handler that sends the others. SGI 0 is reserved for the hypervisor.
const FIRST: u32 = 1;
/// Number of SGIs per core.
const SGIS: u32 = 16;
/// Interrupts per storm.
const EACH: u64 = (SGIS - FIRST) as u64;

/// Storms per line of output.
pub const STEP: u64 = 1_000;

/// Pause between two storms.
const PAUSE: Duration = Duration::from_micros(100);

/// Number of deliveries of each SGI.
static SERVED: [AtomicU64; SGIS as usize] = [const { AtomicU64::new(0) }; SGIS as usize];

/// Main thread: one storm after the other.
pub fn main() {
    for intid in FIRST..SGIS {
        if let Err(why) = irq::register(intid, Trigger::Edge, serve) {
            return error!("no interrupt {intid}: {why}");
        }
    }
    for storm in 1.. {
        cpu_interface::send_sgi(Group::One, FIRST, 0);
        // A lost interrupt blocks here, so that no further line is printed.
        while sum() < storm * EACH {
            core::hint::spin_loop();
        }
        let uneven = served().filter(|served| *served != storm).count();
        if uneven != 0 {
            error!("storm {storm}: {uneven} interrupts were not served once each");
        }
        // The emulator runs other cores only while this one waits.
        time::sleep(PAUSE);
        if storm % STEP == 0 {
            info!("{storm} storms, {} interrupts", sum());
        }
    }
}

fn serve(intid: u32) {
    if let Some(served) = SERVED.get(intid as usize) {
        served.store(served.load(Relaxed) + 1, Relaxed);
    }
    if intid == FIRST {
        for other in FIRST + 1..SGIS {
            cpu_interface::send_sgi(Group::One, other, 0);
        }
    }
}

fn served() -> impl Iterator<Item = u64> {
    let served = SERVED.iter().map(|served| served.load(Relaxed));
    served.skip(FIRST as usize)
}

fn sum() -> u64 {
    served().sum()
}
