//! Control registers, as the table in `mortise_vcpu`'s documentation of traps has them.

use crate::Broken;

/// How interrupts reach the VM, and where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holds {
    /// Whether interrupts come through list registers.
    pub shared: bool,
    /// Whether a guest that waits comes to Mortise.
    pub trap_wait: bool,
    /// Whether several virtual CPUs share the core.
    pub core_shared: bool,
    /// Whether cores of the system are shared at all.
    pub cores_shared: bool,
    /// Whether the core has pointer authentication; where not, its bits are zero.
    pub keys: bool,
    /// Root of its stage 2, and its VMID.
    pub vttbr: u64,
    /// Index of the virtual CPU.
    pub vcpu: usize,
}

/// What is read on the core.
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
    vm | swio | fmo | amo | tsc | tidcp | tacr | tsw | rw
};
const KEYS: u64 = bit(40) | bit(41);
const IMO: u64 = bit(4);
const TWI: u64 = bit(13);
const TID3: u64 = bit(18);

/// `CPTR_EL2`: RES1 bits with TZ, TTA, TAM (D19.2.33); TFP by turns on a shared core.
const CPTR: u64 = 0x33ff | bit(20) | bit(30);
const TFP: u64 = bit(10);

/// `MDCR_EL2`: TDRA, TDOSA, TPMS, TTRF (D19.3); TDA, TPMCR and TPM on a shared core.
const MDCR: u64 = 3 << 10 | bit(14) | bit(19);
const OBSERVERS: u64 = bit(9) | 3 << 5;
/// HPMN, HPME, HPMD: whoever counts there says how.
const COUNTING: u64 = 0x1f | bit(7) | bit(17);

/// `VTCR_EL2`: 39 bits from level 1, 4 KiB granule, inner-shareable write-back walks. PS, which is the
/// core's, aside.
const VTCR: u64 = bit(31) | 0x3559;
const PS: u64 = 7 << 16;

/// `ICH_HCR_EL2`: UIE, LRENPIE, NPIE and EOIcount change as interrupts come and go (IHI 0069, 12.4.5).
const CHANGING: u64 = 0b1110 | 0x1f << 27;

/// `ICC_SRE_EL2`: SRE, DFB, DIB. Enable may read as one whatever is written (IHI 0069, 12.2.22).
const SRE: u64 = 0b111;

/// Whether control registers are as they must be for who goes on.
///
/// # Errors
///
/// The first that is not.
pub fn check(is: &Control, of: &Holds) -> Result<(), Broken> {
    let when = |wanted: bool, bits: u64| if wanted { bits } else { 0 };
    let hcr = HCR
        | when(of.keys, KEYS)
        | when(of.shared, IMO)
        | when(of.trap_wait || of.core_shared, TWI)
        | when(of.core_shared, TID3);
    let rules = [
        ("HCR_EL2", is.hcr, 0, hcr),
        ("VTTBR_EL2", is.vttbr, 0, of.vttbr),
        ("VTCR_EL2", is.vtcr, PS, VTCR),
        ("CPTR_EL2", is.cptr, when(of.core_shared, TFP), CPTR),
        (
            "MDCR_EL2",
            is.mdcr,
            COUNTING,
            MDCR | when(of.core_shared, OBSERVERS),
        ),
        ("HSTR_EL2", is.hstr, 0, 0),
        // EL1PCTEN, and EL1PCEN where EL1's physical timer need not be exchanged (D24.10.2).
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
            return Err(Broken::Control {
                register,
                found,
                expected,
            });
        }
    }
    Ok(())
}
