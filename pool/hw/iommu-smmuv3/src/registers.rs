//! SMMU registers (IHI 0070, 6.3).

use crate::{Error, Frame, Registers, Stage};

/// Offsets of the non-secure registers.
pub(crate) mod offset {
    pub const IDR0: usize = 0x00;
    pub const IDR1: usize = 0x04;
    pub const IDR5: usize = 0x14;
    pub const CR0: usize = 0x20;
    pub const CR0ACK: usize = 0x24;
    pub const CR1: usize = 0x28;
    pub const CR2: usize = 0x2c;
    pub const GBPA: usize = 0x44;
    pub const IRQ_CTRL: usize = 0x50;
    pub const IRQ_CTRLACK: usize = 0x54;
    pub const GERROR: usize = 0x60;
    pub const GERRORN: usize = 0x64;
    pub const STRTAB_BASE: usize = 0x80;
    pub const STRTAB_BASE_CFG: usize = 0x88;
    pub const CMDQ_BASE: usize = 0x90;
    pub const CMDQ_PROD: usize = 0x98;
    pub const CMDQ_CONS: usize = 0x9c;
    pub const EVENTQ_BASE: usize = 0xa0;
    pub const EVENTQ_IRQ_CFG0: usize = 0xb0;
    /// On the second page (IHI 0070, 6.1).
    pub const EVENTQ_PROD: usize = 0x1_00a8;
    pub const EVENTQ_CONS: usize = 0x1_00ac;
}

/// Bits of `CR0` (6.3.9).
pub(crate) mod cr0 {
    pub const SMMUEN: u32 = 1;
    pub const EVENTQEN: u32 = 1 << 2;
    pub const CMDQEN: u32 = 1 << 3;
}

/// `CR1` (6.3.11): tables and queues are in normal memory, write-back, inner shareable.
pub(crate) const CACHED: u32 = {
    let (write_back, inner_shareable) = (0b01, 0b11);
    let kind = write_back | write_back << 2 | inner_shareable << 4;
    kind | kind << 6
};

/// `CR2.RECINVSID` (6.3.12): a stream outside of the table causes an event too.
pub(crate) const RECORD_UNKNOWN: u32 = 1 << 1;

/// `GBPA.ABORT` and `GBPA.Update` (6.3.14).
pub(crate) const BYPASS_ABORTS: u32 = 1 << 20;
pub(crate) const UPDATE: u32 = 1 << 31;

/// `IRQ_CTRL.EVENTQ_IRQEN` (6.3.15).
pub(crate) const EVENT_INTERRUPT: u32 = 1 << 2;

/// `CMDQ_ERR` of `GERROR` and `GERRORN`: they differ while an error is pending (6.3.17, 6.3.18).
pub(crate) const COMMAND_ERROR: u32 = 1;

/// Registers of an SMMU, some of which have 64 bits, or a test's model of them.
pub trait Registers64: Registers {
    /// Writes the 64-bit register at this offset.
    fn write64(&mut self, offset: usize, value: u64);
}

impl Registers64 for Frame {
    fn write64(&mut self, offset: usize, value: u64) {
        self.unordered().write64(offset, value);
    }
}

/// Capabilities of an SMMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The stage that is used for translation.
    pub stage: Stage,
    /// `IDR5.OAS`, in the encoding of `CD.IPS` and `STE.S2PS`.
    pub output_size: u64,
}

impl Identity {
    /// Reads and checks the capabilities; stage 2 is preferred.
    pub fn read(registers: &impl Registers, bits: u32) -> Result<Self, Error> {
        let (zero, one) = (registers.read(offset::IDR0), registers.read(offset::IDR1));
        let five = registers.read(offset::IDR5);
        let field = |value: u32, low: u32, width: u32| value >> low & ((1 << width) - 1);
        let stage = match field(zero, 0, 2) {
            0b00 => return Err(Error::Unfit),
            0b10 => Stage::One,
            _ => Stage::Two,
        };
        // AArch64 tables, little endian, 4 KiB granule; faults that terminate and do not stall
        // (6.3.1, 6.3.6). Base addresses of tables and queues that can be written, and the required
        // sizes (6.3.2).
        let aarch64 = field(zero, 2, 2) & 0b10 != 0;
        let little = field(zero, 21, 2) != 0b11;
        let ends = field(zero, 24, 2) != 0b10;
        let pages = field(five, 4, 1) == 1;
        let free = field(one, 29, 2) == 0;
        let room = field(one, 21, 5) >= bits && field(one, 16, 5) >= bits;
        if !(aarch64 && little && ends && pages && free && room) {
            return Err(Error::Unfit);
        }
        if field(zero, 4, 1) == 0 {
            return Err(Error::Incoherent);
        }
        Ok(Self {
            stage,
            output_size: field(five, 0, 3).into(),
        })
    }
}
