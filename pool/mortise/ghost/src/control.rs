//! Rules for control registers, as in the table of `mortise_vcpu::traps`.

use crate::Violation;

/// Configuration from which the expected values follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Whether interrupts reach the guest through list registers.
    pub shared: bool,
    /// Whether WFI exits.
    pub trap_wait: bool,
    /// Whether the core is shared.
    pub core_shared: bool,
    /// Whether the system has shared cores.
    pub cores_shared: bool,
    /// Whether the core implements pointer authentication; otherwise its bits are zero.
    pub keys: bool,
    /// Whether the core implements RAS, likewise.
    pub ras: bool,
    /// Whether the core implements limited ordering regions, likewise.
    pub regions: bool,
    /// Root of its stage 2, and its VMID.
    pub vttbr: u64,
    /// Index of the vCPU.
    pub vcpu: usize,
}

/// Values read on the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// `HCR_EL2`.
    pub hcr: u64,
    /// `VTTBR_EL2`.
    pub vttbr: u64,
    /// `VTCR_EL2`.
    pub vtcr: u64,
    /// `CPTR_EL2`.
    pub cptr: u64,
    /// `MDCR_EL2`.
    pub mdcr: u64,
    /// `HSTR_EL2`.
    pub hstr: u64,
    /// `CNTHCTL_EL2`.
    pub cnthctl: u64,
    /// `VMPIDR_EL2`.
    pub vmpidr: u64,
    /// `ICC_SRE_EL2`.
    pub sre: u64,
    /// `ICH_HCR_EL2`.
    pub ich_hcr: u64,
}

/// One bit.
const fn bit(number: u32) -> u64 {
    1 << number
}

/// `HCR_EL2` of every guest with a GICv3 (Arm ARM, D19.2.48).
const HCR: u64 = {
    let (vm, swio, fmo, amo) = (bit(0), bit(1), bit(3), bit(5));
    let (tsc, tidcp, tacr, tsw, rw) = (bit(19), bit(20), bit(21), bit(22), bit(31));
    vm | swio | fmo | amo | TID3 | tsc | tidcp | tacr | tsw | rw
};
const KEYS: u64 = bit(40) | bit(41);
const IMO: u64 = bit(4);
const TWI: u64 = bit(13);
const TID3: u64 = bit(18);
const TLOR: u64 = bit(35);
const TERR: u64 = bit(36);

/// `CPTR_EL2`: RES1 bits with TZ, TSM, TTA, TAM (D19.2.33); TFP changes on a shared core.
const CPTR: u64 = 0x33ff | bit(20) | bit(30);
const TFP: u64 = bit(10);

/// `MDCR_EL2`: TDRA, TDOSA, TPMS, TTRF (D19.3); TDA, TPMCR and TPM on a shared core.
const MDCR: u64 = 3 << 10 | bit(14) | bit(19);
const PMU_AND_DEBUG: u64 = bit(9) | 3 << 5;
/// HPMN, HPME, HPMD: set by the user of the performance monitor.
const COUNTING: u64 = 0x1f | bit(7) | bit(17);

/// `VTCR_EL2`: 39-bit IPAs from level 1, 4 KiB granule, inner-shareable write-back walks. PS depends on the
/// core.
const VTCR: u64 = bit(31) | 0x3559;
const PS: u64 = 7 << 16;

/// `ICH_HCR_EL2`: UIE, LRENPIE, NPIE and EOIcount change with the state of interrupts (IHI 0069, 12.4.5).
const CHANGING: u64 = 0b1110 | 0x1f << 27;

/// `ICC_SRE_EL2`: SRE, DFB, DIB. Enable may read as one whatever is written (IHI 0069, 12.2.22).
const SRE: u64 = 0b111;

/// Checks the control registers at guest entry.
///
/// # Errors
///
/// The first wrong register.
pub fn check(is: &Control, of: &Expected) -> Result<(), Violation> {
    let when = |wanted: bool, bits: u64| if wanted { bits } else { 0 };
    let hcr = HCR
        | when(of.keys, KEYS)
        | when(of.ras, TERR)
        | when(of.regions, TLOR)
        | when(of.shared, IMO)
        | when(of.trap_wait || of.core_shared, TWI);
    let rules = [
        // A guest alone on a core that has nothing to hide reads the core's identification.
        ("HCR_EL2", is.hcr, when(!of.core_shared, TID3), hcr),
        ("VTTBR_EL2", is.vttbr, 0, of.vttbr),
        ("VTCR_EL2", is.vtcr, PS, VTCR),
        ("CPTR_EL2", is.cptr, when(of.core_shared, TFP), CPTR),
        (
            "MDCR_EL2",
            is.mdcr,
            COUNTING,
            MDCR | when(of.core_shared, PMU_AND_DEBUG),
        ),
        ("HSTR_EL2", is.hstr, 0, 0),
        // EL1PCTEN, and EL1PCEN unless a VM switch would have to exchange the physical timer (D24.10.2).
        (
            "CNTHCTL_EL2",
            is.cnthctl,
            !0b11,
            1 | when(!of.cores_shared, 0b10),
        ),
        ("VMPIDR_EL2", is.vmpidr, 0, bit(31) | of.vcpu as u64),
        ("ICC_SRE_EL2", is.sre, !SRE, SRE),
        (
            "ICH_HCR_EL2",
            is.ich_hcr,
            when(of.shared, CHANGING),
            when(of.shared, 1),
        ),
    ];
    for (register, found, free, expected) in rules {
        if (found ^ expected) & !free != 0 {
            return Err(Violation::Control {
                register,
                found,
                expected,
            });
        }
    }
    Ok(())
}
