//! Bandwidth regulation: the background of shared cores waits when they cause too much of an event.
//!
//! # Purpose
//!
//! What cores do to the caches and the memory they share costs the others (*vLibOS*, section 4.2,
//! Memory Throttling). Each shared core counts an event of its performance monitor while guests run:
//! instructions in an emulator, refills of the second level or accesses to the bus where a core counts
//! them. When all cores together cause more in an interval than the system allows, the background of each
//! waits, the longer the more that core caused, and the core is idle meanwhile.
//!
//! # Guarantees
//!
//! - Who has a priority above the background, or budget left, never waits.
//! - A core that is the only one to exceed the limit comes to it on average, intervals and waiting
//!   taken together; nobody waits for longer than [`LONGEST`] intervals at a time.
//! - What EL2 does is not counted, and no guest of a shared core reaches the performance monitor.
//! - A question takes a fixed number of steps for each core, without a lock.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod account;
mod pause;

pub use pause::LONGEST;

use account::Account;
use core_manifest::{Regulation, System};
use core_memory::PhysicalRange;
use mortise_partition::{Background, Core, Machine, Regulator, Vm, VmExtension};
use pause::{Terms, Traffic};
use spin::Once;

/// Cores that can be shared.
const CORES: usize = 4;

/// What is counted, and what was.
pub struct Bandwidth {
    regulation: Once<&'static Regulation>,
    terms: Once<Terms>,
    accounts: [Account; CORES],
}

/// The regulation of this image's system.
pub static BANDWIDTH: Bandwidth = Bandwidth {
    regulation: Once::new(),
    terms: Once::new(),
    accounts: [const { Account::new() }; CORES],
};

impl VmExtension for Bandwidth {
    fn init(
        &self,
        _: &'static Machine,
        _: &System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str> {
        let parsed = Regulation::parse(manifest).map_err(|_| "its regulation is malformed")?;
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
            self.terms.call_once(|| Terms {
                limit: regulation.limit.into(),
                interval: core.clock().frequency().ticks(regulation.interval),
            });
        }
    }

    fn background(&self, core: &'static Core, now: u64) -> Background {
        match (self.terms.get(), self.accounts.get(core.cpu)) {
            (Some(terms), Some(account)) => self.ask(terms, account, now),
            _ => Background::Runs(u64::MAX),
        }
    }
}

impl Bandwidth {
    fn ask(&self, terms: &Terms, account: &Account, now: u64) -> Background {
        let interval = now / terms.interval;
        if let Some(own) = account.close(interval, hw_pmu::events()) {
            let mut traffic = Traffic::default();
            let told = self.accounts.iter().map(|other| other.told(interval));
            told.for_each(|events| traffic.add(events));
            account.wait_until(now.saturating_add(terms.pause(own, traffic)));
        }
        match account.waits_until() {
            resume if resume > now => Background::Waits(resume),
            _ => Background::Runs((interval + 1).saturating_mul(terms.interval)),
        }
    }
}
