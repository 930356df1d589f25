//! Redistributor: the private interrupts of one core (IHI 0069, 12.10, 12.11).

use crate::{Group, Trigger};
use hw_arch::mmio::Mmio;
use hw_irqchip::{bank, per_interrupt};

const CTLR: usize = 0x0000;
const TYPER: usize = 0x0008;
const WAKER: usize = 0x0014;

const PROCESSOR_SLEEP: u32 = 1 << 1;
const CHILDREN_ASLEEP: u32 = 1 << 2;
const RWP: u32 = 1 << 3;

/// The redistributor of one core.
#[derive(Debug, Clone, Copy)]
pub struct Redistributor {
    control: Mmio,
    private: Mmio,
}

impl Redistributor {
    /// Redistributor with the two 64 KiB frames `control` and `private`.
    #[must_use]
    pub const fn new(control: Mmio, private: Mmio) -> Self {
        Self { control, private }
    }

    /// Its control registers, for a mediator that has checked the access.
    #[must_use]
    pub const fn control_frame(&self) -> Mmio {
        self.control
    }

    /// Its SGI and PPI registers, for a mediator that has checked the access.
    #[must_use]
    pub const fn private_frame(&self) -> Mmio {
        self.private
    }

    /// Affinity of its core: Aff3 in bits 39:32, Aff2 to Aff0 in 23:0.
    #[must_use]
    pub fn affinity(&self) -> u64 {
        let value = self.control.read64(TYPER) >> 32;
        (value & 0xff00_0000) << 8 | value & 0x00ff_ffff
    }

    /// Wakes the redistributor and puts every private interrupt into Group 1, disabled, at the default
    /// priority.
    pub fn initialise(&self) {
        self.control
            .write32(WAKER, self.control.read32(WAKER) & !PROCESSOR_SLEEP);
        while self.control.read32(WAKER) & CHILDREN_ASLEEP != 0 {
            core::hint::spin_loop();
        }
        self.reset(0);
    }

    /// Resets every private interrupt except those in `kept` (one bit per INTID).
    pub fn reset(&self, kept: u32) {
        if kept == 0 {
            bank::reset_word(self.private, 0, Group::One);
        } else {
            self.private.write32(bank::CLEAR_ENABLE, !kept);
            self.private.write32(bank::CLEAR_PENDING, !kept);
            self.private.write32(bank::CLEAR_ACTIVE, !kept);
            for intid in (0..32).filter(|intid| kept >> intid & 1 == 0) {
                bank::set_priority(self.private, intid, crate::DEFAULT_PRIORITY);
            }
            // PPIs only: SGIs are always edge-triggered.
            for intid in (16..32).filter(|intid| kept >> intid & 1 == 0) {
                bank::set_trigger(self.private, intid, Trigger::Level);
            }
        }
        self.wait();
    }

    /// Disables private interrupt `intid`; it is not signalled after the return.
    pub fn disable(&self, intid: u32) {
        bank::set_bit(self.private, bank::CLEAR_ENABLE, intid);
        self.wait();
    }

    per_interrupt!(private);

    fn wait(&self) {
        while self.control.read32(CTLR) & RWP != 0 {
            core::hint::spin_loop();
        }
    }
}
