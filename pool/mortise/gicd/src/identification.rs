//! Identification and control registers of the GICv3 that guests see.

/// GICD_PIDR2 and GICR_PIDR2 of a GICv3: ArchRev = 3 (section 12.9.37).
pub const PIDR2_GICV3: u64 = 3 << 4;

/// GICD_IIDR and GICR_IIDR: Arm as the implementer, `T` as the product, for which no driver lists
/// errata (section 12.9.17).
pub const IMPLEMENTER: u64 = (b'T' as u64) << 24 | 0x43b;

/// GICD_CTLR of a distributor with one security state (section 12.9.4).
pub mod control {
    /// Group 0 interrupts are forwarded.
    pub const ENABLE_GROUP0: u64 = 1 << 0;
    /// Group 1 interrupts are forwarded.
    pub const ENABLE_GROUP1: u64 = 1 << 1;
    /// Affinity routing; RAO/WI here.
    pub const ARE: u64 = 1 << 4;
    /// One security state; RAO/WI here.
    pub const DS: u64 = 1 << 6;
}

/// GICD_TYPER for interrupts up to `lines` (a multiple of 32): one security state, no LPIs, no
/// message-based SPIs, 10 bits of INTID, no 1-of-N routing, Aff3 zero (section 12.9.38).
#[inline]
#[must_use]
pub const fn distributor_type(lines: u32) -> u64 {
    const ID_BITS_10: u64 = 9 << 19;
    const NO_1_OF_N: u64 = 1 << 25;
    let groups_of_32 = (lines / 32).saturating_sub(1) as u64;
    groups_of_32 & 0x1f | ID_BITS_10 | NO_1_OF_N
}

/// GICR_TYPER of a vCPU: its affinity (Aff0 is its index), its number, whether it is the last
/// frame, no LPIs (section 12.11.35).
#[inline]
#[must_use]
pub const fn redistributor_type(vcpu: usize, vcpus: usize) -> u64 {
    let last = vcpu + 1 == vcpus;
    (vcpu as u64) << 32 | (vcpu as u64) << 8 | (last as u64) << 4
}
