//! Interrupts that come all at once, each of which must be served once.
//!
//! While the handler of one SGI runs, it sends all the others to its own core: fourteen are pending
//! then, where a virtual CPU interface lists four. The hypervisor has to list the rest as places
//! become free, and to lose none. A line for each [`STEP`] storms says what came.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use hw_irqchip_gicv3::{Group, cpu_interface};
use tenon::irq::{self, Trigger};
use tenon::log::{error, info};
use tenon::time::{self, Duration};

/// The SGI whose handler sends the others; 0 is the hypervisor's.
const FIRST: u32 = 1;
/// SGIs of a core.
const SGIS: u32 = 16;
/// What comes of a storm.
const EACH: u64 = (SGIS - FIRST) as u64;

/// Storms from one line to the next.
pub const STEP: u64 = 1_000;

/// Between two storms.
const PAUSE: Duration = Duration::from_micros(100);

/// How often each SGI was served.
static SERVED: [AtomicU64; SGIS as usize] = [const { AtomicU64::new(0) }; SGIS as usize];

/// The main thread: one storm after the other.
pub fn main() {
    for intid in FIRST..SGIS {
        if let Err(why) = irq::register(intid, Trigger::Edge, serve) {
            return error!("no interrupt {intid}: {why}");
        }
    }
    for storm in 1.. {
        cpu_interface::send_sgi(Group::One, FIRST, 0);
        // What is lost keeps it here: no further line comes.
        while sum() < storm * EACH {
            core::hint::spin_loop();
        }
        let uneven = served().filter(|served| *served != storm).count();
        if uneven != 0 {
            error!("storm {storm}: {uneven} interrupts were not served once each");
        }
        // Other cores have their turn in the emulator only while this one waits.
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
