//! What the registers that identify a core's features say to a guest that shares it.
//!
//! What traps there is no feature: the performance monitor, whose use would tell one guest what
//! another does and which Mortise may count with itself, and what only some cores have and no
//! context exchanges.

use crate::SystemRegister;
use hw_arch::read_register;

/// `ID_DFR0_EL1`, `ID_AA64PFR0_EL1`, `ID_AA64PFR1_EL1`, `ID_AA64ZFR0_EL1`, `ID_AA64SMFR0_EL1` and
/// `ID_AA64DFR0_EL1`.
const DFR0_32: u16 = encode(1, 2);
const PFR0: u16 = encode(4, 0);
const PFR1: u16 = encode(4, 1);
const ZFR0: u16 = encode(4, 4);
const SMFR0: u16 = encode(4, 5);
const DFR0: u16 = encode(5, 0);

const fn encode(crm: u16, op2: u16) -> u16 {
    SystemRegister::encode(3, 0, 0, crm, op2)
}

/// A field of four bits.
const fn field(low: u32) -> u64 {
    0xf << low
}

/// What of the register a guest is not told (Arm ARM, D19.2).
const fn hidden(encoding: u16) -> u64 {
    match encoding {
        // PerfMon.
        DFR0_32 => field(24),
        // SVE, AMU.
        PFR0 => field(32) | field(44),
        // MTE, SME.
        PFR1 => field(8) | field(24),
        ZFR0 | SMFR0 => u64::MAX,
        // PMUVer; PMSVer, TraceVer, TraceFilt, TraceBuffer.
        DFR0 => field(8) | field(32) | field(4) | field(40) | field(44),
        _ => 0,
    }
}

/// What a register of identification says to a guest on a core that several share.
#[must_use]
pub fn id_register(encoding: u16) -> u64 {
    read(encoding) & !hidden(encoding)
}

/// The core's own. What has no name yet reads as zero (Arm ARM, D19.1.1).
fn read(encoding: u16) -> u64 {
    macro_rules! read {
        ($($crm:literal: $($op2:literal)*;)*) => {
            match (encoding >> 3 & 15, encoding & 7) {
                $($(($crm, $op2) => read_register!(concat!("S3_0_C0_C", $crm, "_", $op2)),)*)*
                _ => 0,
            }
        };
    }
    read! {
        1: 0 1 2 3 4 5 6 7;
        2: 0 1 2 3 4 5 6 7;
        3: 0 1 2 4 5 6;
        4: 0 1 2;
        5: 0 1;
        6: 0 1 2;
        7: 0 1 2 3 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_traps_is_not_told() {
        // ID_AA64DFR0_EL1 of a Cortex-A53: PMUv3 and debug, of which debug stays.
        assert_eq!(0x1030_5106 & !hidden(DFR0), 0x1030_5006);
        // Floating point and SIMD stay, SVE goes.
        assert_eq!(0x0000_0001_0000_2222 & !hidden(PFR0), 0x2222);
        assert_eq!(hidden(encode(6, 0)), 0, "the instructions are the core's");
        assert_eq!(hidden(encode(7, 0)), 0, "and so is how it translates");
    }
}
