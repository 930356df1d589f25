//! Identification registers as guests of a shared core read them.
//!
//! Features with registers that trap on a shared core are hidden: the performance monitor, which would
//! reveal to one guest what another does and which Mortise may use itself, and extensions that only some
//! cores implement and no vCPU context contains.

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

/// Fields of the register that are hidden from guests (Arm ARM, D19.2).
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

/// Value of an identification register for a guest on a shared core.
#[must_use]
pub fn id_register(encoding: u16) -> u64 {
    read(encoding) & !hidden(encoding)
}

/// Reads the core's register. An encoding without a name reads as zero (Arm ARM, D19.1.1).
fn read(encoding: u16) -> u64 {
    macro_rules! read {
        ($($crm:literal: $($op2:literal $name:literal)*;)*) => {
            match (encoding >> 3 & 15, encoding & 7) {
                $($(($crm, $op2) => read_register!($name),)*)*
                _ => 0,
            }
        };
    }
    // ID_ISAR6_EL1 and ID_PFR2_EL1 are known to the assembler with later architectures only.
    read! {
        1: 0 "id_pfr0_el1" 1 "id_pfr1_el1" 2 "id_dfr0_el1" 3 "id_afr0_el1"
            4 "id_mmfr0_el1" 5 "id_mmfr1_el1" 6 "id_mmfr2_el1" 7 "id_mmfr3_el1";
        2: 0 "id_isar0_el1" 1 "id_isar1_el1" 2 "id_isar2_el1" 3 "id_isar3_el1"
            4 "id_isar4_el1" 5 "id_isar5_el1" 6 "id_mmfr4_el1" 7 "S3_0_C0_C2_7";
        3: 0 "mvfr0_el1" 1 "mvfr1_el1" 2 "mvfr2_el1" 4 "S3_0_C0_C3_4" 5 "id_dfr1_el1" 6 "id_mmfr5_el1";
        4: 0 "id_aa64pfr0_el1" 1 "id_aa64pfr1_el1" 2 "id_aa64pfr2_el1";
        5: 0 "id_aa64dfr0_el1" 1 "id_aa64dfr1_el1";
        6: 0 "id_aa64isar0_el1" 1 "id_aa64isar1_el1" 2 "id_aa64isar2_el1";
        7: 0 "id_aa64mmfr0_el1" 1 "id_aa64mmfr1_el1" 2 "id_aa64mmfr2_el1" 3 "id_aa64mmfr3_el1"
            4 "id_aa64mmfr4_el1";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_trap_are_hidden() {
        // ID_AA64DFR0_EL1 of a Cortex-A53: PMUv3 is hidden, debug is not.
        assert_eq!(0x1030_5106 & !hidden(DFR0), 0x1030_5006);
        // SVE is hidden, floating point and SIMD are not.
        assert_eq!(0x0000_0001_0000_2222 & !hidden(PFR0), 0x2222);
        assert_eq!(hidden(encode(6, 0)), 0, "instructions are visible");
        assert_eq!(hidden(encode(7, 0)), 0, "and so are memory features");
    }
}
