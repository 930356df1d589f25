//! Enable registers of shared interrupts, the registers that guests access most.

/// `GICD_ISENABLER<n>` or `GICD_ICENABLER<n>`: the enable bits of 32 shared interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnableRegister {
    /// Index `n` of the register, from 1.
    pub row: usize,
    /// Whether a write sets the bits (ISENABLER) or clears them (ICENABLER).
    pub sets: bool,
}

impl EnableRegister {
    /// The enable register at `offset` of the distributor, or `None` at any other register.
    /// [`Register::decode`](crate::Register::decode) agrees; this is its fast path.
    #[inline(always)]
    #[must_use]
    pub const fn at(offset: usize) -> Option<Self> {
        let row = offset >> 2 & 31;
        if offset >> 8 == 1 && offset & 3 == 0 && row != 0 {
            let sets = offset & 0x80 == 0;
            Some(Self { row, sets })
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EnableRegister;
    use crate::{BitBank, Frame, Register, Width};

    #[test]
    fn agrees_with_the_general_decoder() {
        for offset in 0..crate::FRAME_SIZE {
            let expected = match Register::decode(Frame::Distributor, offset, Width::Word) {
                Register::Bank {
                    bank: bank @ (BitBank::SetEnable | BitBank::ClearEnable),
                    first,
                } => Some(EnableRegister {
                    row: first as usize / 32,
                    sets: bank == BitBank::SetEnable,
                }),
                _ => None,
            };
            assert_eq!(EnableRegister::at(offset), expected, "{offset:#x}");
        }
        assert_eq!(EnableRegister::at(usize::MAX & !3), None);
    }
}
