//! Distributor: the shared interrupts (IHI 0069, 12.9).

use crate::{FIRST_SPI, Group, Trigger};
use hw_arch::mmio::Mmio;
use hw_irqchip::{bank, per_interrupt};

const CTLR: usize = 0x0000;
const TYPER: usize = 0x0004;
const IROUTER: usize = 0x6000;

/// EnableGrp0, EnableGrp1 and ARE where `GICD_CTLR.DS` is one.
const ENABLE: u32 = 1 | 1 << 1 | 1 << 4;
/// Disable security: there is one security state only.
const DS: u32 = 1 << 6;
/// Register write pending.
const RWP: u32 = 1 << 31;

/// The shared half of the controller.
#[derive(Debug, Clone, Copy)]
pub struct Distributor {
    frame: Mmio,
}

impl Distributor {
    /// Distributor whose registers are in `frame`.
    #[must_use]
    pub const fn new(frame: Mmio) -> Self {
        Self { frame }
    }

    /// Its registers, for a mediator that has checked the access.
    #[must_use]
    pub const fn frame(&self) -> Mmio {
        self.frame
    }

    /// Whether both groups are the reader's. Otherwise Group 0 belongs to a secure
    /// side, and what is written about it has no effect (IHI 0069, 4.6).
    #[must_use]
    pub fn has_one_security_state(&self) -> bool {
        self.frame.read32(CTLR) & DS != 0
    }

    /// Number of INTIDs it has, private ones included.
    #[must_use]
    pub fn interrupts(&self) -> u32 {
        (((self.frame.read32(TYPER) & 0x1f) + 1) * 32).min(1020)
    }

    /// Puts every shared interrupt into Group 1, disabled, at the default
    /// priority, and turns both groups on with affinity routing.
    pub fn initialise(&self) {
        self.frame.write32(CTLR, 0);
        self.wait();
        for word in 1..self.interrupts().div_ceil(32) as usize {
            bank::reset_word(self.frame, word, Group::One);
        }
        self.frame.write32(CTLR, ENABLE);
        self.wait();
    }

    /// Takes shared interrupt `intid` back to its first state. Accesses to its
    /// neighbours' trigger must not run at the same time.
    pub fn reset(&self, intid: u32) {
        self.disable(intid);
        self.set_pending(intid, false);
        self.deactivate(intid);
        self.set_priority(intid, crate::DEFAULT_PRIORITY);
        self.set_trigger(intid, Trigger::Level);
    }

    /// Stops shared interrupt `intid`; none of it arrives after the return.
    pub fn disable(&self, intid: u32) {
        bank::touch(self.frame, bank::CLEAR_ENABLE, intid);
        self.wait();
    }

    per_interrupt!(frame);

    /// Sends `intid` to the core of `affinity` only.
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
