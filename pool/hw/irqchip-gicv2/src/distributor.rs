//! Distributor of a GICv2: all interrupts, with the private ones banked by core (IHI 0048, 4.3).

use crate::{FIRST_SPI, Group, Targets};
use hw_arch::mmio::Mmio;
use hw_irqchip::{
    bank,
    distributor::{self, CTLR},
    distributor_frame,
};

/// `GICD_ITARGETSR`, one byte each: the cores that receive the interrupt.
const TARGETS: usize = 0x800;
const SGIR: usize = 0xf00;
/// `GICD_CPENDSGIR`, one byte for each SGI, with one bit for each sending core.
const CLEAR_PENDING_SGIS: usize = 0xf10;
/// `GICD_SGIR.TargetListFilter`: the writing core only.
const OWN_CORE: u32 = 2 << 24;

/// The distributor.
#[derive(Debug, Clone, Copy)]
pub struct Distributor {
    frame: Mmio,
}

impl Distributor {
    distributor_frame!();

    /// Disables every shared interrupt, at the default priority, and enables the distributor.
    pub fn initialise(&self) {
        self.frame.write32(CTLR, 0);
        distributor::reset_shared(self.frame, Group::Zero);
        self.frame.write32(CTLR, 1);
    }

    /// Disables every private interrupt of this core, at the default priority.
    pub fn initialise_private(&self) {
        bank::reset_word(self.frame, 0, Group::Zero);
    }

    /// Clears all SGIs that are pending on this core.
    pub fn clear_pending_sgis(&self) {
        for word in (0..16).step_by(4) {
            self.frame.write32(CLEAR_PENDING_SGIS + word, u32::MAX);
        }
    }

    /// Clears SGI `intid` if it is pending on this core.
    pub fn clear_pending_sgi(&self, intid: u32) {
        self.frame
            .write8(CLEAR_PENDING_SGIS + (intid & 0xf) as usize, u8::MAX);
    }

    /// Disables `intid`.
    pub fn disable(&self, intid: u32) {
        bank::set_bit(self.frame, bank::CLEAR_ENABLE, intid);
    }

    /// The target number of this core: the targets of its private interrupts read so, and as zero on
    /// a uniprocessor (IHI 0048, 4.3.12).
    #[must_use]
    pub fn own_target(&self) -> Targets {
        let words = (0..FIRST_SPI as usize).step_by(4);
        let all = words.fold(0, |all, byte| all | self.frame.read32(TARGETS + byte));
        Targets(
            all.to_le_bytes()
                .into_iter()
                .fold(0, |all, byte| all | byte),
        )
    }

    /// Routes `intid` to `targets`.
    pub fn route(&self, intid: u32, targets: Targets) {
        if intid >= FIRST_SPI {
            self.frame.write8(TARGETS + intid as usize, targets.0);
        }
    }

    /// Sends SGI `intid` to this core, which has no number on a uniprocessor.
    pub fn send_sgi_to_self(&self, intid: u32) {
        self.frame.write32(SGIR, OWN_CORE | intid & 0xf);
    }

    /// Sends SGI `intid` to `targets`. All earlier stores are visible to the receivers.
    pub fn send_sgi(&self, intid: u32, targets: Targets) {
        hw_arch::barrier::dsb_ish();
        let value = u32::from(targets.0) << 16 | intid & 0xf;
        self.frame.write32(SGIR, value);
    }
}
