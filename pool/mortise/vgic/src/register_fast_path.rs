//! Accesses that are answered from memory, without a look at list registers.

use crate::VirtualGic;

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Which of a row of shared interrupts, from 1, are enabled: what a read of these bits by
    /// [`access`](Self::access) comes to.
    #[inline(always)]
    #[must_use]
    pub fn enabled_word(&self, row: usize) -> u32 {
        match self.shared.get(row.wrapping_sub(1)) {
            Some(bank) => bank.enabled,
            None => 0,
        }
    }

    /// Whether all is as it was after a write of `value` to the bits that set or clear these.
    #[inline(always)]
    #[must_use]
    pub fn is_noop_write(&self, row: usize, sets: bool, value: u32) -> bool {
        match self.shared.get(row.wrapping_sub(1)) {
            Some(bank) if sets => value & bank.present & !bank.enabled == 0,
            Some(bank) => value & bank.enabled == 0,
            None => true,
        }
    }
}
