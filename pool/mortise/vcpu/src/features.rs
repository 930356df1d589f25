//! Features of the CPU that a guest sees, and the traps of those that it does not: [`FEATURES`].
//!
//! `HCR_EL2.TID3` traps the identification registers on every shared core, and where a core has a
//! feature that is to be hidden. A guest reads the fields of the
//! table there, each up to the version stated, and zero in all others: a feature that is not in the
//! table does not exist for it. Trap bits are made from the same rows (Arm ARM, D19.2; fields of
//! four bits).

/// A field of an identification register, and what becomes of its feature.
pub(crate) struct Feature {
    /// `CRm` and `op2` of the register (`op0` 3, `op1` 0, `CRn` 0).
    register: (u8, u8),
    /// Lowest bit of the field.
    low: u32,
    /// Highest version that a guest reads, alone on its core and on a shared core.
    most: (u64, u64),
    treatment: Treatment,
}

/// How VMs on one core are separated in the state of a feature.
enum Treatment {
    /// There is no state beyond the registers that each switch exchanges.
    Passed,
    /// Its registers are exchanged where the core implements them, and do not trap by these bits of
    /// `HCR_EL2`.
    Switched(u64),
    /// Its registers trap while these bits of `HCR_EL2` are one.
    Hcr(u64),
    /// Its registers and instructions trap or are undefined while these bits of `HCR_EL2` are zero.
    HcrZero(u64),
    /// They trap while these bits of `CPTR_EL2` are one.
    Cptr(u64),
    /// They trap while these bits of `MDCR_EL2` are one.
    Mdcr(u64),
    /// They trap on a shared core, while these bits of `MDCR_EL2` are one.
    MdcrIfShared(u64),
}

use Treatment::{Cptr, Hcr, HcrZero, Mdcr, MdcrIfShared, Passed, Switched};

/// Any version: of numbers, and of fields in which 15 means that a feature is absent.
const ANY: u64 = 15;

/// Versions up to `most` are passed.
const fn pass(register: (u8, u8), low: u32, most: u64) -> Feature {
    Feature {
        register,
        low,
        most: (most, most),
        treatment: Passed,
    }
}

/// No version is passed.
const fn hide(register: (u8, u8), low: u32, treatment: Treatment) -> Feature {
    Feature {
        register,
        low,
        most: (0, 0),
        treatment,
    }
}

const PFR0: (u8, u8) = (4, 0);
const PFR1: (u8, u8) = (4, 1);
const DFR0: (u8, u8) = (5, 0);
const ISAR0: (u8, u8) = (6, 0);
const ISAR1: (u8, u8) = (6, 1);
const ISAR2: (u8, u8) = (6, 2);
const MMFR0: (u8, u8) = (7, 0);
const MMFR1: (u8, u8) = (7, 1);
const MMFR2: (u8, u8) = (7, 2);
/// Of AArch32, of which a guest has EL0 only.
const PFR0_32: (u8, u8) = (1, 0);
const PFR1_32: (u8, u8) = (1, 1);
const DFR0_32: (u8, u8) = (1, 2);
const PFR2_32: (u8, u8) = (3, 4);

/// The features.
#[rustfmt::skip]
pub(crate) const FEATURES: &[Feature] = &[
    pass(PFR0, 0, 2),       // EL0
    pass(PFR0, 4, 1),       // EL1: AArch64 only (`HCR_EL2.RW`)
    pass(PFR0, 16, ANY),    // FP
    pass(PFR0, 20, ANY),    // AdvSIMD
    pass(PFR0, 24, 3),      // GIC
    // RAS: of its registers `DISR_EL1`, which does not trap, is exchanged.
    hide(PFR0, 28, Hcr(1 << 36)),
    hide(PFR0, 32, Cptr(1 << 8)),   // SVE
    hide(PFR0, 44, Cptr(1 << 30)),  // AMU
    pass(PFR0, 48, 1),      // DIT
    pass(PFR0, 56, 1),      // CSV2
    pass(PFR0, 60, 1),      // CSV3
    pass(PFR1, 0, 1),       // BT
    pass(PFR1, 4, 2),       // SSBS
    hide(PFR1, 8, HcrZero(1 << 56)),    // MTE
    // SME: `TPIDR2_EL0`, which does not trap, is exchanged.
    hide(PFR1, 24, Cptr(1 << 12)),
    // CSV2_frac: 2 has SCXTNUM.
    Feature { register: PFR1, low: 32, most: (1, 1), treatment: HcrZero(1 << 53) },
    // DebugVer; on a shared core its registers trap and do nothing.
    Feature { register: DFR0, low: 0, most: (10, 10), treatment: MdcrIfShared(1 << 9) },
    hide(DFR0, 4, Cptr(1 << 20)),   // TraceVer
    // PMUVer.
    Feature { register: DFR0, low: 8, most: (8, 0), treatment: MdcrIfShared(3 << 5) },
    pass(DFR0, 12, ANY),    // BRPs
    pass(DFR0, 20, ANY),    // WRPs
    pass(DFR0, 28, ANY),    // CTX_CMPs
    hide(DFR0, 32, Mdcr(1 << 14)),  // PMSVer
    // DoubleLock: with the OS lock and the debug ROM it traps.
    Feature { register: DFR0, low: 36, most: (ANY, ANY), treatment: Mdcr(3 << 10) },
    hide(DFR0, 40, Mdcr(1 << 19)),  // TraceFilt
    pass(ISAR0, 4, 2),      // AES
    pass(ISAR0, 8, 1),      // SHA1
    pass(ISAR0, 12, 2),     // SHA2
    pass(ISAR0, 16, 1),     // CRC32
    pass(ISAR0, 20, 3),     // Atomic
    hide(ISAR0, 24, HcrZero(1 << 39)),  // TME
    pass(ISAR0, 28, 1),     // RDM
    pass(ISAR0, 32, 1),     // SHA3
    pass(ISAR0, 36, 1),     // SM3
    pass(ISAR0, 40, 1),     // SM4
    pass(ISAR0, 44, 1),     // DP
    pass(ISAR0, 48, 1),     // FHM
    pass(ISAR0, 52, 2),     // TS
    pass(ISAR0, 56, 2),     // TLB
    pass(ISAR0, 60, 1),     // RNDR
    pass(ISAR1, 0, 2),      // DPB
    Feature { register: ISAR1, low: 4, most: (5, 5), treatment: Switched(3 << 40) },    // APA
    Feature { register: ISAR1, low: 8, most: (5, 5), treatment: Switched(3 << 40) },    // API
    pass(ISAR1, 12, 1),     // JSCVT
    pass(ISAR1, 16, 1),     // FCMA
    pass(ISAR1, 20, 3),     // LRCPC
    Feature { register: ISAR1, low: 24, most: (1, 1), treatment: Switched(3 << 40) },   // GPA
    Feature { register: ISAR1, low: 28, most: (1, 1), treatment: Switched(3 << 40) },   // GPI
    pass(ISAR1, 32, 1),     // FRINTTS
    pass(ISAR1, 36, 1),     // SB
    pass(ISAR1, 40, 2),     // SPECRES
    pass(ISAR1, 44, 2),     // BF16
    pass(ISAR1, 48, 1),     // DGH
    pass(ISAR1, 52, 1),     // I8MM
    pass(ISAR1, 56, 1),     // XS
    pass(ISAR2, 4, 1),      // RPRES
    Feature { register: ISAR2, low: 8, most: (1, 1), treatment: Switched(3 << 40) },    // GPA3
    Feature { register: ISAR2, low: 12, most: (5, 5), treatment: Switched(3 << 40) },   // APA3
    pass(ISAR2, 20, 1),     // BC
    pass(ISAR2, 24, 1),     // PAC_frac
    pass(ISAR2, 28, 1),     // CLRBHB
    pass(MMFR0, 0, ANY),    // PARange
    pass(MMFR0, 4, 2),      // ASIDBits
    pass(MMFR0, 8, 1),      // BigEnd
    pass(MMFR0, 12, 1),     // SNSMem
    pass(MMFR0, 16, 1),     // BigEndEL0
    pass(MMFR0, 20, 2),     // TGran16
    pass(MMFR0, 24, ANY),   // TGran64
    pass(MMFR0, 28, ANY),   // TGran4
    pass(MMFR0, 44, 1),     // ExS
    pass(MMFR0, 60, 1),     // ECV: 2 has an offset that EL2 sets
    pass(MMFR1, 0, 2),      // HAFDBS
    pass(MMFR1, 12, 2),     // HPDS
    hide(MMFR1, 16, Hcr(1 << 35)),  // LO
    pass(MMFR1, 20, 3),     // PAN
    pass(MMFR1, 24, 1),     // SpecSEI
    pass(MMFR1, 36, 3),     // ETS
    pass(MMFR1, 44, 1),     // AFP
    pass(MMFR1, 48, 1),     // nTLBPA
    pass(MMFR1, 52, 1),     // TIDCP1
    pass(MMFR1, 60, 1),     // ECBHB
    pass(MMFR2, 0, 1),      // CnP
    pass(MMFR2, 4, 1),      // UAO
    pass(MMFR2, 8, 1),      // LSM
    pass(MMFR2, 16, 1),     // VARange
    pass(MMFR2, 20, 1),     // CCIDX
    pass(MMFR2, 28, 1),     // ST
    pass(MMFR2, 32, 1),     // AT
    pass(MMFR2, 36, 1),     // IDS
    pass(MMFR2, 48, 1),     // TTL
    pass(MMFR2, 52, 2),     // BBM
    pass(MMFR2, 60, 1),     // E0PD
    pass(PFR0_32, 0, 1),    // State0
    pass(PFR0_32, 4, 3),    // State1
    pass(PFR0_32, 8, 1),    // State2
    pass(PFR0_32, 12, 1),   // State3
    pass(PFR0_32, 16, 1),   // CSV2
    pass(PFR0_32, 24, 1),   // DIT
    pass(PFR1_32, 0, 1),    // ProgMod
    pass(PFR1_32, 16, 2),   // GenTimer
    pass(PFR1_32, 28, 3),   // GIC
    pass(DFR0_32, 0, 10),   // CopDbg
    Feature { register: DFR0_32, low: 24, most: (8, 0), treatment: MdcrIfShared(3 << 5) },  // PerfMon
    pass(PFR2_32, 0, 1),    // CSV3
    pass(PFR2_32, 4, 1),    // SSBS
];

/// Registers of AArch32 that are passed as they are: instructions and the memory model of EL0
/// (`ID_MMFR0_EL1` to `ID_MMFR3_EL1`, `ID_ISAR0_EL1` to `ID_ISAR6_EL1`, `ID_MMFR4_EL1`, `MVFR0_EL1` to
/// `MVFR2_EL1`), as bits of `op2`, by `CRm` from 1 on.
const WHOLE: [u8; 3] = [0b1111_0000, 0b1111_1111, 0b0000_0111];

/// Highest versions per field in the identification registers, by `CRm` (three bits) and `op2`.
type Limits = [u64; 64];

/// The limits of a guest alone on its core, and on a shared core.
pub(crate) static LIMITS: [Limits; 2] = [limits(false), limits(true)];

const fn limits(shared: bool) -> Limits {
    let mut limits = [0; 64];
    let mut row = 0;
    while row < WHOLE.len() * 8 {
        if WHOLE[row / 8] >> (row % 8) & 1 != 0 {
            limits[8 + row] = u64::MAX;
        }
        row += 1;
    }
    let mut index = 0;
    while index < FEATURES.len() {
        let Feature {
            register: (crm, op2),
            low,
            most: (alone, if_shared),
            ..
        } = FEATURES[index];
        let most = if shared { if_shared } else { alone };
        limits[crm as usize * 8 + op2 as usize] |= most << low;
        index += 1;
    }
    limits
}

/// Trap bits of all features.
pub(crate) struct Controls {
    /// Set in `HCR_EL2`.
    pub hcr: u64,
    /// Zero in `HCR_EL2`.
    pub hcr_zero: u64,
    /// Set in `CPTR_EL2`.
    pub cptr: u64,
    /// Set in `MDCR_EL2`.
    pub mdcr: u64,
    /// Set in `MDCR_EL2` on a shared core too.
    pub mdcr_if_shared: u64,
}

/// The trap bits of [`FEATURES`].
pub(crate) const CONTROLS: Controls = {
    let mut of = Controls {
        hcr: 0,
        hcr_zero: 0,
        cptr: 0,
        mdcr: 0,
        mdcr_if_shared: 0,
    };
    let mut index = 0;
    while index < FEATURES.len() {
        match FEATURES[index].treatment {
            Passed => {}
            Hcr(bits) | Switched(bits) => of.hcr |= bits,
            HcrZero(bits) => of.hcr_zero |= bits,
            Cptr(bits) => of.cptr |= bits,
            Mdcr(bits) => of.mdcr |= bits,
            MdcrIfShared(bits) => of.mdcr_if_shared |= bits,
        }
        index += 1;
    }
    of
};

#[cfg(test)]
mod tests {
    use super::{CONTROLS, FEATURES, LIMITS};

    #[test]
    fn each_field_is_listed_once() {
        for (index, one) in FEATURES.iter().enumerate() {
            assert!(one.low.is_multiple_of(4) && one.most.0 <= 15 && one.most.1 <= one.most.0);
            for other in &FEATURES[index + 1..] {
                let (this, that) = ((one.register, one.low), (other.register, other.low));
                assert_ne!(this, that);
            }
        }
    }

    #[test]
    fn trap_bits_follow_from_the_table() {
        assert_eq!(CONTROLS.hcr, 3 << 40 | 1 << 36 | 1 << 35);
        assert_eq!(CONTROLS.cptr, 1 << 30 | 1 << 20 | 1 << 12 | 1 << 8);
        assert_eq!(CONTROLS.mdcr, 1 << 19 | 1 << 14 | 3 << 10);
        assert_eq!(CONTROLS.mdcr_if_shared, 3 << 5 | 1 << 9);
        assert_eq!(CONTROLS.hcr & CONTROLS.hcr_zero, 0);
    }

    #[test]
    fn only_the_performance_monitor_differs_on_a_shared_core() {
        let [alone, shared] = &LIMITS;
        for (index, (alone, shared)) in alone.iter().zip(shared).enumerate() {
            let monitor = match (index / 8, index % 8) {
                (1, 2) => 8 << 24,
                (5, 0) => 8 << 8,
                _ => 0,
            };
            assert_eq!(
                alone ^ shared,
                monitor,
                "CRm {}, op2 {}",
                index / 8,
                index % 8
            );
        }
    }
}
