//! CPU interface: one core's end of the controller (IHI 0048, 4.4).

use hw_arch::mmio::Mmio;

const CTLR: usize = 0x00;
const PMR: usize = 0x04;
const BPR: usize = 0x08;
/// Which priorities are active, four words of each group (`GICC_APR`, `GICC_NSAPR`).
const ACTIVE: usize = 0xd0;
const ACTIVE_WORDS: usize = 8;

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

    /// Opens it to what is more urgent than `priority` only, whatever was active here before.
    pub fn open_above(&self, priority: u8) {
        self.restore(&State {
            control: 1,
            mask: priority.into(),
            active: [0; ACTIVE_WORDS],
        });
        self.frame.write32(BPR, 0);
    }

    /// Closes it, as at power-on.
    pub fn close(&self) {
        self.frame.write32(CTLR, 0);
        self.frame.write32(PMR, 0);
    }

    /// What says which interrupts are signalled here.
    #[must_use]
    pub fn state(&self) -> State {
        State {
            control: self.frame.read32(CTLR),
            mask: self.frame.read32(PMR),
            active: core::array::from_fn(|word| self.frame.read32(ACTIVE + 4 * word)),
        }
    }

    /// Makes that what it was.
    pub fn restore(&self, state: &State) {
        for (word, active) in state.active.iter().enumerate() {
            self.frame.write32(ACTIVE + 4 * word, *active);
        }
        self.frame.write32(PMR, state.mask);
        self.frame.write32(CTLR, state.control);
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

/// What says which interrupts a CPU interface signals: see [`CpuInterface::state`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    control: u32,
    mask: u32,
    active: [u32; ACTIVE_WORDS],
}

impl State {
    /// The same, open to all priorities, with none active.
    #[must_use]
    pub const fn opened(&self) -> Self {
        Self {
            control: self.control | 1,
            mask: 0xff,
            active: [0; ACTIVE_WORDS],
        }
    }
}
