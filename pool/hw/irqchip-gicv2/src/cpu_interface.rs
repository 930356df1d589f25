//! CPU interface: one core's end of the controller (IHI 0048, 4.4).

use hw_arch::mmio::Mmio;

const CTLR: usize = 0x00;
const PMR: usize = 0x04;
const BPR: usize = 0x08;

/// Where reading acknowledges, for code that has no Rust (`GICC_IAR`).
pub const ACKNOWLEDGE: usize = 0x0c;
/// Where writing what was read there ends the interrupt (`GICC_EOIR`).
pub const END: usize = 0x10;

/// The INTID in an acknowledged value, which of an SGI also names the sender.
#[inline(always)]
#[must_use]
pub const fn intid(acknowledged: u32) -> u32 {
    acknowledged & 0x3ff
}

/// The CPU interface of whichever core uses it.
#[derive(Debug, Clone, Copy)]
pub struct CpuInterface {
    frame: Mmio,
}

impl CpuInterface {
    /// Interface whose registers are in `frame`.
    #[must_use]
    pub const fn new(frame: Mmio) -> Self {
        Self { frame }
    }

    /// The address of its registers.
    #[must_use]
    pub const fn base(&self) -> usize {
        self.frame.base()
    }

    /// Opens this core's interface to all priorities, each of which may preempt those behind it;
    /// ending an interrupt is one step, and signals are IRQ.
    pub fn initialise(&self) {
        self.frame.write32(PMR, 0xff);
        self.frame.write32(BPR, 0);
        self.frame.write32(CTLR, 1);
    }

    /// Takes the most urgent pending interrupt; [`end`](Self::end) wants the value as it is.
    #[inline(always)]
    #[must_use]
    pub fn acknowledge(&self) -> u32 {
        self.frame.read32(ACKNOWLEDGE)
    }

    /// Ends an acknowledged interrupt.
    #[inline(always)]
    pub fn end(&self, acknowledged: u32) {
        self.frame.write32(END, acknowledged);
    }
}
