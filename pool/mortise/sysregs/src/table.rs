//! The table of system registers, [`TABLE`].

use crate::{
    Access::{self, Both, Read, Write},
    Answer,
    Owner::{self, Absent, Guest, Trap},
    Row,
};

const UNDEFINED: Owner = Trap(Answer::Undefined);
const ZERO: Owner = Trap(Answer::Constant(0));
const IDENTITY: Owner = Trap(Answer::Identity);
const SGI: Owner = Trap(Answer::Sgi);
const ALL: u64 = u64::MAX;

/// A register with the same owner on any core.
const fn row(name: &'static str, register: [u16; 5], owner: Owner, access: Access) -> Row {
    varying(name, register, owner, owner, access)
}

/// A register with another owner on a shared core.
const fn varying(
    name: &'static str,
    register: [u16; 5],
    alone: Owner,
    shared: Owner,
    access: Access,
) -> Row {
    Row {
        name,
        register,
        alone,
        shared,
        access,
        gicv3: false,
        modelled: true,
    }
}

/// A register of the CPU interface: Group 1 of the hardware for a VM with direct interrupts,
/// otherwise the virtual CPU interface, in both cases without an exit.
const fn gic(name: &'static str, register: [u16; 5], owner: Owner, access: Access) -> Row {
    Row {
        gicv3: true,
        ..row(name, register, owner, access)
    }
}

/// A register without its trap in the emulator.
const fn unmodelled(row: Row) -> Row {
    Row {
        modelled: false,
        ..row
    }
}

/// All registers that are distinguished; `mortise_vcpu::Traps` names the control of each. Of those
/// that the guest owns, registers that it depends on are only read.
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    row("TPIDR_EL0", [3, 3, 13, 0, 2], Guest, Both(ALL)),
    row("TPIDRRO_EL0", [3, 3, 13, 0, 3], Guest, Both(ALL)),
    row("CONTEXTIDR_EL1", [3, 0, 13, 0, 1], Guest, Both(0xffff_ffff)),
    row("CPACR_EL1", [3, 0, 1, 0, 2], Guest, Both(3 << 20)),
    row("CSSELR_EL1", [3, 2, 0, 0, 0], Guest, Both(0xf)),
    row("FAR_EL1", [3, 0, 6, 0, 0], Guest, Both(ALL)),
    row("ESR_EL1", [3, 0, 5, 2, 0], Guest, Both(0xffff_ffff)),
    row("ELR_EL1", [3, 0, 4, 0, 1], Guest, Both(ALL)),
    row("SP_EL0", [3, 0, 4, 1, 0], Guest, Both(ALL)),
    row("CNTKCTL_EL1", [3, 0, 14, 1, 0], Guest, Both(0x3)),
    row("CNTV_CVAL_EL0", [3, 3, 14, 3, 2], Guest, Both(ALL)),
    row("CNTV_CTL_EL0", [3, 3, 14, 3, 1], Guest, Both(2)),
    row("FPCR", [3, 3, 4, 4, 0], Guest, Both(3 << 22)),
    row("FPSR", [3, 3, 4, 4, 1], Guest, Both(0x1f)),
    row("CNTVCT_EL0", [3, 3, 14, 0, 2], Guest, Read),
    row("CNTPCT_EL0", [3, 3, 14, 0, 1], Guest, Read),
    row("CNTFRQ_EL0", [3, 3, 14, 0, 0], Guest, Read),
    row("SCTLR_EL1", [3, 0, 1, 0, 0], Guest, Read),
    row("TTBR0_EL1", [3, 0, 2, 0, 0], Guest, Read),
    row("TTBR1_EL1", [3, 0, 2, 0, 1], Guest, Read),
    row("TCR_EL1", [3, 0, 2, 0, 2], Guest, Read),
    row("MAIR_EL1", [3, 0, 10, 2, 0], Guest, Read),
    row("VBAR_EL1", [3, 0, 12, 0, 0], Guest, Read),
    row("PAR_EL1", [3, 0, 7, 4, 0], Guest, Read),
    row("MIDR_EL1", [3, 0, 0, 0, 0], Guest, Read),
    row("MPIDR_EL1", [3, 0, 0, 0, 5], Guest, Read),
    row("CTR_EL0", [3, 3, 0, 0, 1], Guest, Read),
    row("DCZID_EL0", [3, 3, 0, 0, 7], Guest, Read),
    varying("CNTP_TVAL_EL0", [3, 3, 14, 2, 0], Guest, UNDEFINED, Read),
    varying("CNTP_CTL_EL0", [3, 3, 14, 2, 1], Guest, UNDEFINED, Both(2)),
    varying("CNTP_CVAL_EL0", [3, 3, 14, 2, 2], Guest, UNDEFINED, Both(ALL)),
    varying("PMCR_EL0", [3, 3, 9, 12, 0], Guest, ZERO, Read),
    varying("PMCNTENSET_EL0", [3, 3, 9, 12, 1], Guest, ZERO, Read),
    varying("PMCNTENCLR_EL0", [3, 3, 9, 12, 2], Guest, ZERO, Read),
    varying("PMOVSCLR_EL0", [3, 3, 9, 12, 3], Guest, ZERO, Read),
    varying("PMCEID0_EL0", [3, 3, 9, 12, 6], Guest, ZERO, Read),
    varying("PMCEID1_EL0", [3, 3, 9, 12, 7], Guest, ZERO, Read),
    varying("PMCCNTR_EL0", [3, 3, 9, 13, 0], Guest, ZERO, Read),
    varying("PMINTENSET_EL1", [3, 0, 9, 14, 1], Guest, ZERO, Read),
    varying("PMINTENCLR_EL1", [3, 0, 9, 14, 2], Guest, ZERO, Read),
    varying("PMCCFILTR_EL0", [3, 3, 14, 15, 7], Guest, ZERO, Read),
    varying("PMSELR_EL0", [3, 3, 9, 12, 5], Guest, ZERO, Both(3)),
    varying("PMUSERENR_EL0", [3, 3, 9, 14, 0], Guest, ZERO, Both(0xf)),
    row("ID_AA64PFR0_EL1", [3, 0, 0, 4, 0], IDENTITY, Read),
    row("ID_AA64PFR1_EL1", [3, 0, 0, 4, 1], IDENTITY, Read),
    row("ID_AA64DFR0_EL1", [3, 0, 0, 5, 0], IDENTITY, Read),
    row("ID_AA64ISAR0_EL1", [3, 0, 0, 6, 0], IDENTITY, Read),
    row("ID_AA64ISAR1_EL1", [3, 0, 0, 6, 1], IDENTITY, Read),
    row("ID_AA64MMFR0_EL1", [3, 0, 0, 7, 0], IDENTITY, Read),
    row("ID_AA64MMFR1_EL1", [3, 0, 0, 7, 1], IDENTITY, Read),
    row("ID_AA64ZFR0_EL1", [3, 0, 0, 4, 4], IDENTITY, Read),
    row("ID_AA64ISAR2_EL1", [3, 0, 0, 6, 2], IDENTITY, Read),
    row("ID_AA64MMFR2_EL1", [3, 0, 0, 7, 2], IDENTITY, Read),
    row("ID_ISAR5_EL1", [3, 0, 0, 2, 5], IDENTITY, Read),
    row("MVFR0_EL1", [3, 0, 0, 3, 0], IDENTITY, Read),
    varying("MDSCR_EL1", [2, 0, 0, 2, 2], Guest, ZERO, Both(1 << 15 | 1 << 13)),
    varying("DBGBVR0_EL1", [2, 0, 0, 0, 4], Guest, ZERO, Both(0xffff_fffc)),
    varying("DBGBCR0_EL1", [2, 0, 0, 0, 5], Guest, ZERO, Both(3 << 1)),
    varying("DBGWVR0_EL1", [2, 0, 0, 0, 6], Guest, ZERO, Both(0xffff_fff8)),
    varying("DBGWCR0_EL1", [2, 0, 0, 0, 7], Guest, ZERO, Both(0xf << 1)),
    row("OSDLR_EL1", [2, 0, 1, 3, 4], ZERO, Both(0)),
    row("OSLAR_EL1", [2, 0, 1, 0, 4], ZERO, Write),
    row("OSLSR_EL1", [2, 0, 1, 1, 4], ZERO, Read),
    row("MDRAR_EL1", [2, 0, 1, 0, 0], ZERO, Read),
    row("ACTLR_EL1", [3, 0, 1, 0, 1], ZERO, Both(0)),
    row("DC ISW", [1, 0, 7, 6, 2], ZERO, Write),
    row("DC CSW", [1, 0, 7, 10, 2], ZERO, Write),
    row("DC CISW", [1, 0, 7, 14, 2], ZERO, Write),
    unmodelled(row("CPUACTLR_EL1", [3, 1, 15, 2, 0], UNDEFINED, Read)),
    unmodelled(row("CPUECTLR_EL1", [3, 1, 15, 2, 1], UNDEFINED, Read)),
    unmodelled(row("L2CTLR_EL1", [3, 1, 11, 0, 2], UNDEFINED, Read)),
    row("ERRSELR_EL1", [3, 0, 5, 3, 1], Absent, Read),
    row("LORC_EL1", [3, 0, 10, 4, 3], Absent, Read),
    row("SCXTNUM_EL1", [3, 0, 13, 0, 7], Absent, Read),
    row("SMCR_EL1", [3, 0, 1, 2, 6], Absent, Read),
    row("GCR_EL1", [3, 0, 1, 0, 6], Absent, Read),
    row("PMSCR_EL1", [3, 0, 9, 9, 0], Absent, Read),
    row("TRFCR_EL1", [3, 0, 1, 2, 1], Absent, Read),
    row("ZCR_EL1", [3, 0, 1, 2, 0], Absent, Read),
    row("AMCR_EL0", [3, 3, 13, 2, 0], Absent, Read),
    row("TRCPRGCTLR", [2, 1, 0, 1, 0], Absent, Read),
    gic("ICC_PMR_EL1", [3, 0, 4, 6, 0], Guest, Both(0xf0)),
    gic("ICC_BPR1_EL1", [3, 0, 12, 12, 3], Guest, Both(7)),
    gic("ICC_IGRPEN0_EL1", [3, 0, 12, 12, 6], Guest, Both(1)),
    gic("ICC_IGRPEN1_EL1", [3, 0, 12, 12, 7], Guest, Both(1)),
    gic("ICC_CTLR_EL1", [3, 0, 12, 12, 4], Guest, Both(2)),
    gic("ICC_AP1R0_EL1", [3, 0, 12, 9, 0], Guest, Both(1 << 31)),
    gic("ICC_AP0R0_EL1", [3, 0, 12, 8, 4], Guest, Both(1 << 31)),
    gic("ICC_RPR_EL1", [3, 0, 12, 11, 3], Guest, Read),
    gic("ICC_HPPIR0_EL1", [3, 0, 12, 8, 2], Guest, Read),
    gic("ICC_HPPIR1_EL1", [3, 0, 12, 12, 2], Guest, Read),
    gic("ICC_IAR0_EL1", [3, 0, 12, 8, 0], Guest, Read),
    unmodelled(gic("ICC_SRE_EL1", [3, 0, 12, 12, 5], Trap(Answer::Constant(7)), Both(0))),
    gic("ICC_SGI1R_EL1", [3, 0, 12, 11, 5], SGI, Write),
    gic("ICC_ASGI1R_EL1", [3, 0, 12, 11, 6], SGI, Write),
    gic("ICC_SGI0R_EL1", [3, 0, 12, 11, 7], SGI, Write),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_register_is_listed_once() {
        for (index, row) in TABLE.iter().enumerate() {
            for other in TABLE.iter().skip(index + 1) {
                assert_ne!(row.name, other.name);
                assert_ne!(
                    row.register, other.register,
                    "{} and {}",
                    row.name, other.name
                );
            }
        }
    }

    #[test]
    fn a_shared_core_gives_no_more_registers() {
        for row in TABLE {
            assert!(row.shared != Guest || row.alone == Guest, "{}", row.name);
        }
    }
}
