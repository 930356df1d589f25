//! Register banks with a fixed number of bits for each interrupt.

use crate::{DEFAULT_PRIORITY, Group, Trigger};
use core::num::NonZeroU32;
use hw_arch::mmio::{Mmio, Register};

/// `IGROUPR`, one bit each: Group 1.
pub const GROUP: usize = 0x080;
/// `ISENABLER`, one bit each: writing one enables.
pub const SET_ENABLE: usize = 0x100;
/// `ICENABLER`, one bit each: writing one disables.
pub const CLEAR_ENABLE: usize = 0x180;
/// `ISPENDR`, one bit each: writing one pends.
pub const SET_PENDING: usize = 0x200;
/// `ICPENDR`, one bit each: writing one clears the pending state.
pub const CLEAR_PENDING: usize = 0x280;
/// `ISACTIVER`, one bit each: writing one activates.
pub const SET_ACTIVE: usize = 0x300;
/// `ICACTIVER`, one bit each: writing one deactivates.
pub const CLEAR_ACTIVE: usize = 0x380;
/// `IPRIORITYR`, one byte each.
pub const PRIORITY: usize = 0x400;
/// `ICFGR`, two bits each.
pub const CONFIGURATION: usize = 0xc00;

/// Writes one to the bit of `intid` in a bank where zeroes have no effect.
pub fn set_bit(frame: Mmio, bank: usize, intid: u32) {
    frame.write32(bank + intid as usize / 32 * 4, 1 << (intid % 32));
}

/// One bit of a bank where zeroes have no effect, with its address computed in advance.
#[derive(Debug, Clone, Copy)]
pub struct SetBit {
    word: Register,
    bit: NonZeroU32,
}

impl SetBit {
    /// The bit of `intid` in a bank, or `None` if the frame ends before it.
    #[must_use]
    pub fn new(frame: Mmio, bank: usize, intid: u32) -> Option<Self> {
        let word = frame.register(bank + intid as usize / 32 * 4)?;
        let bit = NonZeroU32::new(1 << (intid % 32))?;
        Some(Self { word, bit })
    }

    /// Writes one to the bit.
    #[inline]
    pub fn write(&self) {
        self.word.write(self.bit.get());
    }
}

/// The word of a bank that holds the bit of `intid`.
#[must_use]
pub fn read_word(frame: Mmio, bank: usize, intid: u32) -> u32 {
    frame.read32(bank + intid as usize / 32 * 4)
}

/// Whether the bit of `intid` is set in a bank.
#[must_use]
pub fn is_set(frame: Mmio, bank: usize, intid: u32) -> bool {
    read_word(frame, bank, intid) >> (intid % 32) & 1 != 0
}

/// Sets or clears a bit of a register by a read-modify-write.
#[inline(always)]
fn modify_bit(frame: Mmio, offset: usize, bit: u32, set: bool) {
    let old = frame.read32(offset);
    frame.write32(offset, if set { old | bit } else { old & !bit });
}

/// Sets the group of `intid`.
pub fn set_group(frame: Mmio, intid: u32, group: Group) {
    let offset = GROUP + intid as usize / 32 * 4;
    modify_bit(frame, offset, 1 << (intid % 32), group == Group::One);
}

/// Sets the trigger of `intid`.
pub fn set_trigger(frame: Mmio, intid: u32, trigger: Trigger) {
    let offset = CONFIGURATION + intid as usize / 16 * 4;
    modify_bit(
        frame,
        offset,
        2 << (intid % 16 * 2),
        trigger == Trigger::Edge,
    );
}

/// Sets the priority of `intid`.
pub fn set_priority(frame: Mmio, intid: u32, priority: u8) {
    frame.write8(PRIORITY + intid as usize, priority);
}

/// Resets the 32 interrupts of word `word`: this group, default priority, disabled, neither pending
/// nor active.
// One copy for distributors and redistributors.
#[inline(never)]
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
