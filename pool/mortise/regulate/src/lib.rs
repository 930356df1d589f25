//! Bandwidth regulation: the background of shared cores pauses when the cores cause too many
//! events.
//!
//! # Purpose
//!
//! Traffic of one core to caches and memory slows the others (*vLibOS*, section 4.2, Memory
//! Throttling). Each shared core counts an event of its performance monitor while guests run:
//! instructions in an emulator, L2 cache refills or bus accesses on hardware. When all cores
//! together cause more events in an interval than the system's limit, the background of each core
//! pauses in proportion to the core's own events, and the core is idle meanwhile.
//!
//! # Guarantees
//!
//! - A vCPU with a priority above the background, or with budget left, never pauses.
//! - If a single core exceeds the limit, its rate over intervals and pauses together is the limit
//!   on average. No pause is longer than [`MAX_PAUSE`] intervals.
//! - Execution at EL2 is not counted, and no guest of a shared core can access the performance
//!   monitor.
//! - A query takes a constant number of steps per core, without a lock.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod pause;
mod usage;

pub use pause::MAX_PAUSE;

use core_manifest::{Regulation, System};
use core_memory::PhysicalRange;
use mortise_partition::{Background, Core, Machine, Manifest, Ready, Regulator, Vm, VmExtension};
use pause::{Limits, Traffic};
use spin::Once;
use usage::CoreUsage;

/// Maximum number of shared cores.
const CORES: usize = 4;

/// The regulator: the regulated event, its limits, and the usage of each core.
pub struct Bandwidth {
    regulation: Once<&'static Regulation>,
    limits: Once<Limits>,
    usage: [CoreUsage; CORES],
}

/// The regulator of this image's system.
pub static BANDWIDTH: Bandwidth = Bandwidth {
    regulation: Once::new(),
    limits: Once::new(),
    usage: [const { CoreUsage::new() }; CORES],
};

impl VmExtension for Bandwidth {
    fn init(&self, _: &'static Machine, _: &System<'static>, bytes: Manifest) -> Ready {
        let parsed = Regulation::parse(bytes).map_err(|_| "its regulation is malformed")?;
        if let Some(regulation) = parsed {
            if !hw_pmu::can_count(regulation.event) {
                return Err("its cores do not count the event that it regulates by");
            }
            self.regulation.call_once(|| regulation);
        }
        Ok(())
    }

    fn memory_ranges(&self, _: &'static Core, _: &mut dyn FnMut(PhysicalRange)) {}

    fn vm_starts(&self, _: &'static Machine, _: &'static Vm, _: usize) -> bool {
        false
    }

    fn vm_stopped(&self, _: &'static Machine, _: &'static Vm, _: usize) -> bool {
        false
    }
}

impl Regulator for Bandwidth {
    fn begin(&self, core: &'static Core) {
        if let Some(regulation) = self.regulation.get() {
            hw_pmu::count_guests(regulation.event);
            self.limits.call_once(|| Limits {
                limit: regulation.limit.into(),
                interval: core.clock().frequency().ticks(regulation.interval),
            });
        }
    }

    fn background(&self, core: &'static Core, now: u64) -> Background {
        match (self.limits.get(), self.usage.get(core.cpu)) {
            (Some(limits), Some(usage)) => self.query(limits, usage, now),
            _ => Background::Runs(u64::MAX),
        }
    }
}

impl Bandwidth {
    fn query(&self, limits: &Limits, usage: &CoreUsage, now: u64) -> Background {
        let interval = now / limits.interval;
        if let Some(own) = usage.close_interval(interval, hw_pmu::events()) {
            let mut traffic = Traffic::default();
            let published = self.usage.iter().map(|other| other.published(interval));
            published.for_each(|events| traffic.add(events));
            usage.pause_until(now.saturating_add(limits.pause(own, traffic)));
        }
        match usage.paused_until() {
            paused_until if paused_until > now => Background::Waits(paused_until),
            _ => Background::Runs((interval + 1).saturating_mul(limits.interval)),
        }
    }
}
