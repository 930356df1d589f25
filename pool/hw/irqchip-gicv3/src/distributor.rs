//! Distributor of a GICv3: the shared interrupts (IHI 0069, 12.9).

use crate::{FIRST_SPI, Group, Trigger};
use hw_arch::mmio::Mmio;
use hw_irqchip::{
    bank,
    distributor::{self, CTLR},
    distributor_frame,
};

const IROUTER: usize = 0x6000;

/// EnableGrp0, EnableGrp1 and ARE where `GICD_CTLR.DS` is one.
const ENABLE: u32 = 1 | 1 << 1 | 1 << 4;
/// Disable Security: one security state.
const DS: u32 = 1 << 6;
/// Register write pending.
const RWP: u32 = 1 << 31;

/// The distributor.
#[derive(Debug, Clone, Copy)]
pub struct Distributor {
    frame: Mmio,
}

impl Distributor {
    distributor_frame!();

    /// Whether there is one security state. Otherwise Group 0 belongs to the secure state, and
    /// non-secure writes to its fields have no effect (IHI 0069, 4.6).
    #[must_use]
    pub fn has_one_security_state(&self) -> bool {
        self.frame.read32(CTLR) & DS != 0
    }

    /// Puts every shared interrupt into Group 1, disabled, at the default priority, and enables both
    /// groups with affinity routing.
    pub fn initialise(&self) {
        self.frame.write32(CTLR, 0);
        self.wait();
        distributor::reset_shared(self.frame, Group::One);
        self.frame.write32(CTLR, ENABLE);
        self.wait();
    }

    /// Resets shared interrupt `intid`. The caller excludes concurrent writers of the `GICD_ICFGR`
    /// that holds its trigger.
    pub fn reset(&self, intid: u32) {
        self.disable(intid);
        self.set_pending(intid, false);
        self.deactivate(intid);
        self.set_priority(intid, crate::DEFAULT_PRIORITY);
        self.set_trigger(intid, Trigger::Level);
    }

    /// Disables shared interrupt `intid`; it is not signalled after the return.
    pub fn disable(&self, intid: u32) {
        bank::set_bit(self.frame, bank::CLEAR_ENABLE, intid);
        self.wait();
    }

    /// Routes `intid` to the core of `affinity`.
    pub fn route(&self, intid: u32, affinity: u64) {
        if intid >= FIRST_SPI {
            self.frame.write64(IROUTER + intid as usize * 8, affinity);
        }
    }

    fn wait(&self) {
        while self.frame.read32(CTLR) & RWP != 0 {
            core::hint::spin_loop();
        }
    }
}
