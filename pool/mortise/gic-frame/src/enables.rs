//! The registers that guests access most.

/// Enable bits of 32 shared interrupts, as an access of a word meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enables {
    /// The row of interrupts, from 1.
    pub row: usize,
    /// Whether a write sets them, and not clears.
    pub sets: bool,
}

impl Enables {
    /// Those at `offset` of the distributor, nothing if something else is there:
    /// [`Register::decode`](crate::Register::decode) says the same, of them and much else.
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
    use super::Enables;
    use crate::{Bank, Frame, Register, Width};

    #[test]
    fn they_are_two_of_the_distributor_s_banks() {
        for offset in 0..crate::FRAME_SIZE {
            let expected = match Register::decode(Frame::Distributor, offset, Width::Word) {
                Register::Bank {
                    bank: bank @ (Bank::SetEnable | Bank::ClearEnable),
                    first,
                } => Some(Enables {
                    row: first as usize / 32,
                    sets: bank == Bank::SetEnable,
                }),
                _ => None,
            };
            assert_eq!(Enables::at(offset), expected, "{offset:#x}");
        }
        assert_eq!(Enables::at(usize::MAX & !3), None);
    }
}
