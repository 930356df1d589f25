//! Fast paths for accesses to enable registers, which do not involve list registers.

use super::VirtualGic;

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// The enable bits of row `row` of shared interrupts, from 1: the value that a read by
    /// [`access`](Self::access) returns.
    #[inline(always)]
    #[must_use]
    pub fn enabled_word(&self, row: usize) -> u32 {
        match self.shared.get(row.wrapping_sub(1)) {
            Some(bank) => bank.enabled,
            None => 0,
        }
    }

    /// Whether a write of `value` to the register that sets or clears these bits changes nothing.
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
