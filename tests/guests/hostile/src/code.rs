//! Encodings of instructions (Arm ARM, C6.2) that no compiler emits.

pub const NOP: u32 = 0xd503_201f;
pub const WFE: u32 = 0xd503_205f;
pub const WFI: u32 = 0xd503_207f;
pub const SEV: u32 = 0xd503_209f;
pub const ISB: u32 = 0xd503_3fdf;
pub const DSB: u32 = 0xd503_3f9f;
pub const RET: u32 = 0xd65f_03c0;
pub const ERET: u32 = 0xd69f_03e0;
pub const DRPS: u32 = 0xd6bf_03e0;
/// `br x1`.
pub const BRANCH_X1: u32 = 0xd61f_0020;
/// `b .`
pub const SPIN: u32 = 0x1400_0000;
/// `b .-4`
pub const AGAIN: u32 = 0x17ff_ffff;
/// `msr daifclr, #15` and `msr daifset, #15`.
pub const UNMASK: u32 = 0xd503_4fff;
pub const MASK: u32 = 0xd503_4fdf;

/// A system register or instruction: `op0`, `op1`, `CRn`, `CRm`, `op2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System(pub u32, pub u32, pub u32, pub u32, pub u32);

impl System {
    /// The register with this encoding.
    #[must_use]
    pub const fn of([op0, op1, crn, crm, op2]: [u16; 5]) -> Self {
        Self(op0 as u32, op1 as u32, crn as u32, crm as u32, op2 as u32)
    }

    const fn fields(self) -> u32 {
        let Self(op0, op1, crn, crm, op2) = self;
        (op0 & 3) << 19 | op1 << 16 | crn << 12 | crm << 8 | op2 << 5
    }

    /// `mrs x<to>, self`; `sysl` for `op0` = 1.
    #[must_use]
    pub const fn read(self, to: u32) -> u32 {
        0xd520_0000 | self.fields() | to
    }

    /// `msr self, x<from>`; `sys` for `op0` = 1.
    #[must_use]
    pub const fn write(self, from: u32) -> u32 {
        0xd500_0000 | self.fields() | from
    }
}

/// `ldr x0, [x1]` or `str x0, [x1]` of `1 << size` bytes.
#[must_use]
pub const fn access(write: bool, size: u32) -> u32 {
    size << 30 | if write { 0x3900_0020 } else { 0x3940_0020 }
}

/// `hvc #number` or `smc #number`.
#[must_use]
pub const fn call(secure: bool, number: u16) -> u32 {
    0xd400_0002 | (number as u32) << 5 | secure as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_the_manual_s() {
        assert_eq!(System(3, 0, 12, 0, 0).write(0), 0xd518_c000); // msr vbar_el1, x0
        assert_eq!(System(3, 0, 12, 12, 0).read(3), 0xd538_cc03); // mrs x3, icc_iar1_el1
        assert_eq!(System(2, 0, 0, 2, 2).read(0), 0xd530_0240); // mrs x0, mdscr_el1
        assert_eq!(System(1, 0, 8, 7, 0).write(31), 0xd508_871f); // tlbi vmalle1
        assert_eq!(access(false, 3), 0xf940_0020);
        assert_eq!(access(true, 0), 0x3900_0020);
        assert_eq!((call(false, 1), call(true, 0)), (0xd400_0022, 0xd400_0003));
    }
}
