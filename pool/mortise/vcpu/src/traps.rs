//! Traps: which registers a guest owns, which trap and which are virtual.
//!
//! | registers | direct | shared | control |
//! |---|---|---|---|
//! | translation, vectors, exceptions, thread pointers of EL1 | own | own | |
//! | floating point and SIMD | own | own | `CPTR_EL2.TFP` = 0 |
//! | trace, SVE, SME, activity monitors | trap | trap | `CPTR_EL2.TTA`, `TZ`, `TSM`, `TAM` |
//! | virtual timer, counters | own | own | `CNTVOFF_EL2` = 0 |
//! | physical timer | own; in a system with shared cores, trap: Mortise uses it | same | `CNTHCTL_EL2.EL1PCEN` |
//! | performance monitor | own | own; on a shared core, trap | `MDCR_EL2.HPMN` = all; `TPM`, `TPMCR` |
//! | identification of [features](crate::features) | own; where a feature is hidden, trap | trap | `HCR_EL2.TID3` |
//! | memory tags, software context numbers, transactions | trap | trap | `HCR_EL2.ATA`, `EnSCXT`, `TME` = 0 |
//! | self-hosted debug: breakpoints, watchpoints, `MDSCR_EL1` | own | own; on a shared core, trap | `MDCR_EL2.TDA`; `TDE` = 0 |
//! | OS lock, debug ROM | trap | trap | `MDCR_EL2.TDOSA`, `TDRA` |
//! | statistical profiling, trace filter | trap | trap | `MDCR_EL2.TPMS`, `TTRF` |
//! | cache maintenance by set and way | trap | trap | `HCR_EL2.TSW` |
//! | implementation defined, `ACTLR_EL1` | trap | trap | `HCR_EL2.TIDCP`, `TACR` |
//! | Group 1 interrupts (`ICC_IAR1`, `EOIR1`, `IGRPEN1`, `AP1R`, `BPR1`) | own | virtual | `HCR_EL2.IMO` |
//! | Group 0 interrupts, `ICC_PMR`, `RPR`, `DIR`, `CTLR` | virtual | virtual | `HCR_EL2.FMO` = 1 |
//! | `ICC_SRE_EL1` | trap | trap | `ICC_SRE_EL2.Enable` = 0 |
//! | `ICC_SGI<n>R_EL1` | trap | trap | `HCR_EL2.FMO` = 1 |
//! | error records (RAS), limited ordering regions | trap | trap | `HCR_EL2.TERR`, `TLOR` |
//! | SMC | trap | trap | `HCR_EL2.TSC` |
//! | WFI | own, or trap if configured | same | `HCR_EL2.TWI` |
//!
//! On a GICv2 there are no `ICC_` registers: the CPU interface is a page of registers mapped into the
//! VM, and all interrupts reach EL1 (`HCR_EL2.FMO` = `IMO` = 0).
//!
//! `mortise_sysregs::TABLE` lists the registers one by one. This crate is tested against it, and a
//! guest tries each row on a machine (`hostile`, `registers/authority`).
//!
//! *Own*: the hardware register, which no other VM uses because the vCPU is pinned.
//! [`SystemRegister::response`](crate::SystemRegister::response) says how a *trapped* access is
//! answered. *Virtual*: the register of the virtual CPU interface. Sections: Arm ARM D19.2.48 (HCR_EL2),
//! D19.3 (MDCR_EL2), D24.10 (timer); IHI 0069, 6.1.

use crate::{features::CONTROLS, id_registers};
use hw_arch::registers as r;

/// How interrupts reach a VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptMode {
    /// Group 1 interrupts reach EL1 without an exit.
    Direct,
    /// All interrupts reach EL1 without an exit: the CPU interface of a GICv2 is mapped into the VM.
    DirectAll,
    /// Interrupts exit to EL2 and reach EL1 through list registers.
    Shared,
}

/// `CPTR_EL2`: RES1 bits and the traps of features, TZ, TSM, TTA, TAM (Arm ARM, D19.2.33).
pub(crate) const CPTR: u64 = 0x22ff | CONTROLS.cptr;

/// `MDCR_EL2` without HPMN: the traps of features, TDOSA, TDRA, TPMS, TTRF (D19.3). TDE is zero, so
/// debug exceptions target EL1, and none is taken from EL2 whatever a guest sets (D2.3).
const MDCR: u64 = CONTROLS.mdcr;

/// `MDCR_EL2`: TPM, TPMCR, and TDA.
const MDCR_PMU_AND_DEBUG: u64 = CONTROLS.mdcr_if_shared;

/// `HCR_EL2` of every vCPU: what follows, and the traps of features. TERR, TLOR, API and APK are RES0
/// on cores without the feature.
const HCR: u64 = hcr::VM
    | hcr::SWIO
    | hcr::AMO
    | hcr::TID3
    | hcr::TSC
    | hcr::TIDCP
    | hcr::TACR
    | hcr::TSW
    | hcr::RW
    | CONTROLS.hcr;

const _: () = assert!(HCR & CONTROLS.hcr_zero == 0);

/// Trap configuration of a vCPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traps {
    /// How its interrupts reach it.
    pub interrupts: InterruptMode,
    /// Whether WFI exits.
    pub trap_wait: bool,
    /// Whether the performance monitor and self-hosted debug trap, as on a shared core: the former would
    /// reveal to one vCPU what another does, breakpoints of the latter would hit in another.
    pub trap_pmu_and_debug: bool,
    /// Whether the physical timer of EL1 traps, which VM switches do not exchange.
    pub trap_physical_timer: bool,
}

mod hcr {
    pub const VM: u64 = 1;
    pub const SWIO: u64 = 1 << 1;
    pub const FMO: u64 = 1 << 3;
    pub const IMO: u64 = 1 << 4;
    pub const AMO: u64 = 1 << 5;
    pub const TWI: u64 = 1 << 13;
    pub const TID3: u64 = 1 << 18;
    pub const TSC: u64 = 1 << 19;
    pub const TIDCP: u64 = 1 << 20;
    pub const TACR: u64 = 1 << 21;
    pub const TSW: u64 = 1 << 22;
    pub const RW: u64 = 1 << 31;
}

impl Traps {
    /// `HCR_EL2` of this vCPU.
    #[must_use]
    pub const fn hcr(&self) -> u64 {
        let interrupts = match self.interrupts {
            InterruptMode::DirectAll => 0,
            InterruptMode::Direct => hcr::FMO,
            InterruptMode::Shared => hcr::FMO | hcr::IMO,
        };
        let wait = if self.trap_wait { hcr::TWI } else { 0 };
        HCR | interrupts | wait
    }

    /// Applies the traps to this core, with the stage 2 of the VM and the identification that the guest
    /// reads.
    ///
    /// # Safety
    ///
    /// `vttbr` must hold the level-1 root of the VM's stage 2, valid as long as this core uses it, and a
    /// VMID that no other VM has.
    pub unsafe fn apply(&self, vttbr: u64, vcpu: usize) {
        // SAFETY: these registers affect EL1 and EL0 only, and `vttbr` names a valid stage 2 by the
        // contract of the function.
        unsafe {
            r::vtcr_el2::write(vtcr(r::id_aa64mmfr0_el1::read() & 7));
            r::vttbr_el2::write(vttbr);
            // The tables before `HCR_EL2.VM`: once it is set, the core may walk them speculatively.
            hw_arch::barrier::dsb_ish();
            hw_arch::barrier::isb();
            r::cptr_el2::write(CPTR);
            // HPMN: all event counters belong to the guest.
            let counters = hw_arch::read_register!("pmcr_el0") >> 11 & 0x1f;
            let observers = MDCR_PMU_AND_DEBUG * u64::from(self.trap_pmu_and_debug);
            r::mdcr_el2::write(MDCR | observers | counters);
            // Where nothing is to be hidden, a guest reads the core's own identification.
            let traps = self.trap_pmu_and_debug || id_registers::hides_features();
            r::hcr_el2::write(self.hcr() & !if traps { 0 } else { hcr::TID3 });
            r::hstr_el2::write(0);
            // EL1PCTEN: the counter does not trap. EL1PCEN: the physical timer does not trap.
            let timer = if self.trap_physical_timer { 0 } else { 1 << 1 };
            r::cnthctl_el2::write(1 | timer);
            r::cntvoff_el2::write(0);
            r::vpidr_el2::write(r::midr_el1::read());
            r::vmpidr_el2::write(vmpidr(vcpu));
        }
        hw_arch::barrier::isb();
    }
}

/// Whether the performance monitor and self-hosted debug trap on this core.
pub(crate) fn traps_pmu_and_debug() -> bool {
    r::mdcr_el2::read() & MDCR_PMU_AND_DEBUG != 0
}

/// `VMPIDR_EL2` of a vCPU: RES1, and its index as Aff0.
#[must_use]
pub const fn vmpidr(vcpu: usize) -> u64 {
    1 << 31 | vcpu as u64
}

/// `VTCR_EL2`: 39-bit IPAs from level 1, 4 KiB granule, inner-shareable write-back walks, the address
/// size of the core (Arm ARM, D19.2).
const fn vtcr(size: u64) -> u64 {
    25 | 1 << 6 | 1 << 8 | 1 << 10 | 3 << 12 | size << 16 | 1 << 31
}

#[cfg(test)]
mod tests {
    use super::{CPTR, InterruptMode, MDCR, MDCR_PMU_AND_DEBUG, Traps, vtcr};

    #[test]
    fn register_values_match_the_manual() {
        assert_eq!(vtcr(2), 0x8002_3559, "40 bits of physical address");
        assert_eq!(CPTR, 0x4010_33ff);
        assert_eq!(CPTR & 1 << 10, 0, "floating point does not trap");
        assert_eq!(MDCR & 1 << 8, 0, "debug exceptions go to EL1");
        assert_eq!(MDCR, 0x8_4c00);
        assert_eq!(MDCR_PMU_AND_DEBUG, 0x260);
    }

    #[test]
    fn direct_differs_from_shared_by_imo_only() {
        let direct = Traps {
            interrupts: InterruptMode::Direct,
            trap_wait: false,
            trap_pmu_and_debug: false,
            trap_physical_timer: false,
        };
        let shared = Traps {
            interrupts: InterruptMode::Shared,
            ..direct
        };
        assert_eq!(direct.hcr() ^ shared.hcr(), 1 << 4);
        let whole = Traps {
            interrupts: InterruptMode::DirectAll,
            ..direct
        };
        assert_eq!(whole.hcr() ^ direct.hcr(), 1 << 3, "FIQ neither");
        assert_eq!(
            Traps {
                trap_wait: true,
                ..direct
            }
            .hcr()
                ^ direct.hcr(),
            1 << 13
        );
        assert_eq!(direct.hcr() >> 18 & 1, 1, "TID3 on every core");
    }
}
