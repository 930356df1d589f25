//! Distributor: all interrupts, the private ones as this core sees them (IHI 0048, 4.3).

use crate::{FIRST_SPI, Group, Targets};
use hw_arch::mmio::Mmio;
use hw_irqchip::{bank, per_interrupt};

const CTLR: usize = 0x000;
const TYPER: usize = 0x004;
/// A byte each: the cores that an interrupt goes to.
const TARGETS: usize = 0x800;
const SGIR: usize = 0xf00;
/// A byte for each SGI, in which each core that sent it has a bit.
const CLEAR_PENDING_SGIS: usize = 0xf10;
/// `GICD_SGIR.TargetListFilter`: the core that writes it.
const OWN_CORE: u32 = 2 << 24;

/// The distributor.
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

    /// Number of INTIDs it has, private ones included.
    #[must_use]
    pub fn interrupts(&self) -> u32 {
        (((self.frame.read32(TYPER) & 0x1f) + 1) * 32).min(1020)
    }

    /// Disables every shared interrupt, at the default priority, and turns the distributor on.
    pub fn initialise(&self) {
        self.frame.write32(CTLR, 0);
        for word in 1..self.interrupts().div_ceil(32) as usize {
            bank::reset_word(self.frame, word, Group::Zero);
        }
        self.frame.write32(CTLR, 1);
    }

    /// Disables every private interrupt of this core, at the default priority.
    pub fn initialise_private(&self) {
        bank::reset_word(self.frame, 0, Group::Zero);
    }

    /// Forgets the SGIs that are pending for this core.
    pub fn forget_sgis(&self) {
        for word in (0..16).step_by(4) {
            self.frame.write32(CLEAR_PENDING_SGIS + word, u32::MAX);
        }
    }

    /// Forgets SGI `intid`, if it is pending for this core.
    pub fn forget_sgi(&self, intid: u32) {
        self.frame
            .write8(CLEAR_PENDING_SGIS + (intid & 0xf) as usize, u8::MAX);
    }

    /// Stops `intid`.
    pub fn disable(&self, intid: u32) {
        bank::touch(self.frame, bank::CLEAR_ENABLE, intid);
    }

    per_interrupt!(frame);

    /// This core: what the targets of a private interrupt read as, no core at all where there is
    /// but one (IHI 0048, 4.3.12).
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

    /// Sends `intid` to `targets` only.
    pub fn route(&self, intid: u32, targets: Targets) {
        if intid >= FIRST_SPI {
            self.frame.write8(TARGETS + intid as usize, targets.0);
        }
    }

    /// Sends SGI `intid` to this core, which on a machine of one core has no number.
    pub fn send_sgi_to_self(&self, intid: u32) {
        self.frame.write32(SGIR, OWN_CORE | intid & 0xf);
    }

    /// Sends SGI `intid` to `targets`; all earlier stores are visible to the receivers.
    pub fn send_sgi(&self, intid: u32, targets: Targets) {
        hw_arch::barrier::dsb_ish();
        let value = u32::from(targets.0) << 16 | intid & 0xf;
        self.frame.write32(SGIR, value);
    }
}
