//! [`WakeOperation`]: the change and the comparison of a word by `FUTEX_WAKE_OP`.

/// The change and the comparison of `FUTEX_WAKE_OP`.
#[derive(Clone, Copy, Debug)]
pub struct WakeOperation(pub u32);

impl WakeOperation {
    /// The new value of a word, or `None` for an operation that does not exist.
    #[must_use]
    pub fn apply(self, old: u32) -> Option<u32> {
        let operand = self.0 << 8 >> 20;
        // The operand is signed.
        let operand = ((operand << 20) as i32 >> 20) as u32;
        let operand = if self.0 >> 31 != 0 {
            1u32.wrapping_shl(operand)
        } else {
            operand
        };
        Some(match self.0 >> 28 & 7 {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old | operand,
            3 => old & !operand,
            4 => old ^ operand,
            _ => return None,
        })
    }

    /// Whether the old value of a word compares as stated, or `None` for a comparison that does not
    /// exist.
    #[must_use]
    pub fn compare(self, old: u32) -> Option<bool> {
        let (old, operand) = (old as i32, (self.0 << 20) as i32 >> 20);
        Some(match self.0 >> 24 & 0xf {
            0 => old == operand,
            1 => old != operand,
            2 => old < operand,
            3 => old <= operand,
            4 => old > operand,
            5 => old >= operand,
            _ => return None,
        })
    }
}
