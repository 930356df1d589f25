//! CPU interface of a GICv2 (IHI 0048, 4.4).

use hw_arch::mmio::Mmio;

const GICC_CTLR: usize = 0x00;
const GICC_PMR: usize = 0x04;
const GICC_BPR: usize = 0x08;
/// Active priorities, four words for each group (`GICC_APR`, `GICC_NSAPR`).
const GICC_APR: usize = 0xd0;
const ACTIVE_WORDS: usize = 8;

/// A read acknowledges an interrupt. For assembly.
pub const GICC_IAR: usize = 0x0c;
/// A write of the acknowledged value ends the interrupt. For assembly.
pub const GICC_EOIR: usize = 0x10;

/// The INTID in an acknowledged value, which also identifies the sender of an SGI.
#[inline(always)]
#[must_use]
pub const fn intid(acknowledged: u32) -> u32 {
    acknowledged & 0x3ff
}

/// The CPU interface of the accessing core.
#[derive(Debug, Clone, Copy)]
pub struct CpuInterface {
    frame: Mmio,
}

impl CpuInterface {
    /// CPU interface with its registers in `frame`.
    #[must_use]
    pub const fn new(frame: Mmio) -> Self {
        Self { frame }
    }

    /// The address of its registers.
    #[must_use]
    pub const fn base(&self) -> usize {
        self.frame.base()
    }

    /// Enables the interface for all priorities, without priority grouping (`GICC_BPR` = 0). The end
    /// of an interrupt drops its priority and deactivates it, and interrupts are signalled as IRQ.
    pub fn initialise(&self) {
        self.frame.write32(GICC_PMR, 0xff);
        self.frame.write32(GICC_BPR, 0);
        self.frame.write32(GICC_CTLR, 1);
    }

    /// Enables the interface for interrupts more urgent than `priority`, with no priority active.
    pub fn enable_above(&self, priority: u8) {
        self.restore(&InterfaceState {
            control: 1,
            mask: priority.into(),
            active: [0; ACTIVE_WORDS],
        });
        self.frame.write32(GICC_BPR, 0);
    }

    /// Disables the interface, as at power-on.
    pub fn disable(&self) {
        self.frame.write32(GICC_CTLR, 0);
        self.frame.write32(GICC_PMR, 0);
    }

    /// The state that decides which interrupts are signalled.
    #[must_use]
    pub fn state(&self) -> InterfaceState {
        InterfaceState {
            control: self.frame.read32(GICC_CTLR),
            mask: self.frame.read32(GICC_PMR),
            active: core::array::from_fn(|word| self.frame.read32(GICC_APR + 4 * word)),
        }
    }

    /// Restores a saved state.
    pub fn restore(&self, state: &InterfaceState) {
        for (word, active) in state.active.iter().enumerate() {
            self.frame.write32(GICC_APR + 4 * word, *active);
        }
        self.frame.write32(GICC_PMR, state.mask);
        self.frame.write32(GICC_CTLR, state.control);
    }

    /// Acknowledges the most urgent pending interrupt. [`end`](Self::end) takes the value unchanged.
    #[inline(always)]
    #[must_use]
    pub fn acknowledge(&self) -> u32 {
        self.frame.read32(GICC_IAR)
    }

    /// Ends an acknowledged interrupt.
    #[inline(always)]
    pub fn end(&self, acknowledged: u32) {
        self.frame.write32(GICC_EOIR, acknowledged);
    }
}

/// State of a CPU interface that decides which interrupts it signals: see [`CpuInterface::state`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceState {
    control: u32,
    mask: u32,
    active: [u32; ACTIVE_WORDS],
}

impl InterfaceState {
    /// The same state, enabled for all priorities, with none active.
    #[must_use]
    pub const fn enabled_for_all(&self) -> Self {
        Self {
            control: self.control | 1,
            mask: 0xff,
            active: [0; ACTIVE_WORDS],
        }
    }
}
