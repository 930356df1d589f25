//! Register banks that hold a fixed number of bits for each interrupt.

use crate::{DEFAULT_PRIORITY, Group, Trigger};
use core::num::NonZeroU32;
use hw_arch::mmio::{Mmio, Register};

/// A bit each: Group 1 (`IGROUPR`).
pub const GROUP: usize = 0x080;
/// A bit each: enable by writing one (`ISENABLER`).
pub const SET_ENABLE: usize = 0x100;
/// A bit each: disable by writing one (`ICENABLER`).
pub const CLEAR_ENABLE: usize = 0x180;
/// A bit each: make pending by writing one (`ISPENDR`).
pub const SET_PENDING: usize = 0x200;
/// A bit each: not pending any more by writing one (`ICPENDR`).
pub const CLEAR_PENDING: usize = 0x280;
/// A bit each: active, or made so by writing one (`ISACTIVER`).
pub const SET_ACTIVE: usize = 0x300;
/// A bit each: not active any more by writing one (`ICACTIVER`).
pub const CLEAR_ACTIVE: usize = 0x380;
/// A byte each (`IPRIORITYR`).
pub const PRIORITY: usize = 0x400;
/// Two bits each (`ICFGR`).
pub const CONFIGURATION: usize = 0xc00;

/// Writes the bit of `intid` in a bank where zeroes have no effect.
pub fn touch(frame: Mmio, bank: usize, intid: u32) {
    frame.write32(bank + intid as usize / 32 * 4, 1 << (intid % 32));
}

/// One bit of a bank where zeroes have no effect, for whoever writes it often.
#[derive(Debug, Clone, Copy)]
pub struct Lever {
    word: Register,
    bit: NonZeroU32,
}

impl Lever {
    /// That of `intid` in a bank, if the frame has it.
    #[must_use]
    pub fn new(frame: Mmio, bank: usize, intid: u32) -> Option<Self> {
        let word = frame.register(bank + intid as usize / 32 * 4)?;
        let bit = NonZeroU32::new(1 << (intid % 32))?;
        Some(Self { word, bit })
    }

    /// Writes it.
    #[inline]
    pub fn pull(&self) {
        self.word.write(self.bit.get());
    }
}

/// The bits of `intid` and its neighbours in a bank, from a multiple of 32 on.
#[must_use]
pub fn word(frame: Mmio, bank: usize, intid: u32) -> u32 {
    frame.read32(bank + intid as usize / 32 * 4)
}

/// Whether the bit of `intid` is set in a bank.
#[must_use]
pub fn is_set(frame: Mmio, bank: usize, intid: u32) -> bool {
    word(frame, bank, intid) >> (intid % 32) & 1 != 0
}

/// Sets the group of `intid`.
pub fn set_group(frame: Mmio, intid: u32, group: Group) {
    let offset = GROUP + intid as usize / 32 * 4;
    let bit = 1 << (intid % 32);
    let old = frame.read32(offset);
    frame.write32(
        offset,
        if group == Group::One {
            old | bit
        } else {
            old & !bit
        },
    );
}

/// Sets the trigger of `intid`.
pub fn set_trigger(frame: Mmio, intid: u32, trigger: Trigger) {
    let offset = CONFIGURATION + intid as usize / 16 * 4;
    let bit = 2 << (intid % 16 * 2);
    let old = frame.read32(offset);
    frame.write32(
        offset,
        if trigger == Trigger::Edge {
            old | bit
        } else {
            old & !bit
        },
    );
}

/// Sets the priority of `intid`.
pub fn set_priority(frame: Mmio, intid: u32, priority: u8) {
    frame.write8(PRIORITY + intid as usize, priority);
}

/// Everything of word `word` of 32 interrupts: this group, default priority, disabled, neither
/// pending nor active.
pub fn reset_word(frame: Mmio, word: usize, group: Group) {
    frame.write32(CLEAR_ENABLE + word * 4, u32::MAX);
    frame.write32(CLEAR_PENDING + word * 4, u32::MAX);
    frame.write32(CLEAR_ACTIVE + word * 4, u32::MAX);
    let groups = if group == Group::One { u32::MAX } else { 0 };
    frame.write32(GROUP + word * 4, groups);
    for four in 0..8 {
        let priority = u32::from_ne_bytes([DEFAULT_PRIORITY; 4]);
        frame.write32(PRIORITY + word * 32 + four * 4, priority);
    }
}
