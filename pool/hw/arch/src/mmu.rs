//! MMU control: attributes of stage 1, and the change from one translation table to the next.
//!
//! An image starts on the early table of [`crate::entry`], which maps whole gibibytes. The kernel
//! then builds its own with `core/paging` and changes to it here, with W^X enforced by `SCTLR.WXN`
//! from then on.

use crate::{ExceptionLevel, read_register};

/// Memory attributes that every translation table uses, as `MAIR_ELx`:
/// index 0 Device-nGnRE, index 1 Normal write-back.
pub const MAIR: u64 = 0xff04;

/// Attribute index of device memory.
pub const DEVICE: usize = 0;

/// Attribute index of normal memory.
pub const NORMAL: usize = 1;

/// Use of a mapped range by a kernel. No use is both writable and executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Read-only and executable.
    Code,
    /// Read-only.
    Constants,
    /// Read-write.
    Data,
    /// Device registers.
    Device,
}

impl Use {
    /// Every use.
    pub const ALL: [Self; 4] = [Self::Code, Self::Constants, Self::Data, Self::Device];
}

/// Fields of a block or page descriptor of stage 1 (Arm ARM, D8.3.1 and D8.4).
mod descriptor {
    const VALID: u64 = 1;
    const ACCESSED: u64 = 1 << 10;
    const INNER_SHAREABLE: u64 = 0b11 << 8;
    const ATTRIBUTE_INDEX: u32 = 2;
    pub const NORMAL: u64 =
        VALID | ACCESSED | INNER_SHAREABLE | (super::NORMAL as u64) << ATTRIBUTE_INDEX;
    pub const DEVICE: u64 = VALID | ACCESSED | (super::DEVICE as u64) << ATTRIBUTE_INDEX;
    /// AP[1], which is RES1 in a regime with one privilege level.
    const ONE_LEVEL: u64 = 1 << 6;
    pub const READ_ONLY: u64 = 1 << 7;
    /// PXN of the EL1&0 regime.
    const PRIVILEGED_NEVER: u64 = 1 << 53;
    /// XN of the EL2 regime; UXN of the EL1&0 regime.
    const NEVER: u64 = 1 << 54;
    /// Of each regime: bits of all descriptors, and those of memory that a kernel never executes.
    pub const EL1: (u64, u64) = (NEVER, PRIVILEGED_NEVER);
    pub const EL2: (u64, u64) = (ONE_LEVEL, NEVER);
}

/// Attributes of a use in a valid block or page descriptor of stage 1. EL0 has no access.
#[must_use]
pub const fn attributes<L: ExceptionLevel>(purpose: Use) -> u64 {
    use descriptor::{DEVICE, EL1, EL2, NORMAL, READ_ONLY};
    let (regime, never) = if L::LEVEL == 1 { EL1 } else { EL2 };
    match purpose {
        Use::Code => regime | NORMAL | READ_ONLY,
        Use::Constants => regime | NORMAL | READ_ONLY | never,
        Use::Data => regime | NORMAL | never,
        Use::Device => regime | DEVICE | never,
    }
}

/// `SCTLR_ELx` with MMU, caches, alignment of SP and, if wanted, W^X on, RES1
/// bits set.
///
/// Bits M(0), C(2), SA(3), I(12), WXN(19); RES1 differ by level (Arm ARM,
/// D19.2.120 and D19.2.121).
#[must_use]
pub const fn control(level: u8, w_xor_x: bool) -> u64 {
    let on = 1 | 1 << 2 | 1 << 3 | 1 << 12 | (w_xor_x as u64) << 19;
    on | if level == 1 { EL1_RES1 } else { EL2_SET }
}

const EL1_RES1: u64 = 1 << 29 | 1 << 28 | 1 << 23 | 1 << 22 | 1 << 20 | 1 << 11 | 1 << 8 | 1 << 7;
/// RES1, and IESB(21): with RAS, errors of a guest's accesses pend as SErrors when it exits. RES0 without.
const EL2_SET: u64 = 1 << 21
    | (1 << 29 | 1 << 28 | 1 << 23 | 1 << 22 | 1 << 18 | 1 << 16 | 1 << 11 | 1 << 5 | 1 << 4);

/// `TCR_ELx`: 4 KiB granule, write-back inner-shareable walks, the core's own
/// physical address size, and no second table at EL1 (EPD1).
fn tcr(level: u8, address_bits: u64) -> u64 {
    let size = read_register!("id_aa64mmfr0_el1") & 0x7;
    let walk = (64 - address_bits) | 1 << 8 | 1 << 10 | 3 << 12;
    match level {
        1 => walk | 1 << 23 | size << 32,
        _ => walk | size << 16 | 1 << 23 | 1 << 31,
    }
}

/// Makes `root` the translation table of this core, with W^X on.
///
/// The MMU is off during the change, as the new table may map by pages what the old one mapped by
/// blocks (break-before-make, Arm ARM D8.17.1).
///
/// # Safety
///
/// `root` must be the level-1 table for `address_bits` address bits, 31 to 39, that maps the
/// running code, the stack and all memory with Rust references at their present addresses, which
/// must be physical ones. It must stay valid while it is in use.
pub unsafe fn activate<L: ExceptionLevel>(root: usize, address_bits: u64) {
    let (control, translation) = (control(L::LEVEL, true), tcr(L::LEVEL, address_bits));
    #[cfg(target_arch = "aarch64")]
    macro_rules! switch {
        ($el:literal, $tlbi:literal) => {
            // SAFETY: no memory is accessed while the MMU is off; the caller states that the table
            // is valid.
            unsafe {
                core::arch::asm!(
                    "dsb sy",
                    concat!("mrs {old}, sctlr_", $el),
                    "bic {old}, {old}, #1",
                    concat!("msr sctlr_", $el, ", {old}"),
                    "isb",
                    concat!("msr ttbr0_", $el, ", {root}"),
                    concat!("msr tcr_", $el, ", {tcr}"),
                    concat!("msr mair_", $el, ", {mair}"),
                    "isb",
                    $tlbi,
                    "dsb nsh",
                    "isb",
                    concat!("msr sctlr_", $el, ", {sctlr}"),
                    "isb",
                    old = out(reg) _, root = in(reg) root, tcr = in(reg) translation,
                    mair = in(reg) MAIR, sctlr = in(reg) control,
                    options(nostack, preserves_flags),
                )
            }
        };
    }
    #[cfg(target_arch = "aarch64")]
    match L::LEVEL {
        1 => switch!("el1", "tlbi vmalle1"),
        _ => switch!("el2", "tlbi alle2"),
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = (root, control, translation);
}

/// A broadcast TLBI as assembly text, which the caller's DSB ISH completes. `hw/repeat-tlbi` has one
/// for CPUs on which that takes two.
#[cfg(not(feature = "repeat-tlbi"))]
#[macro_export]
macro_rules! broadcast_tlbi {
    ($operation:literal) => {
        concat!("tlbi ", $operation)
    };
}

/// Invalidates on all cores the translation of the page at `address`, after a change of EL1's
/// tables.
pub fn invalidate_page(address: usize) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a dropped translation is looked up again (Arm ARM, D8.14).
    unsafe {
        core::arch::asm!(
            "dsb ishst",
            crate::broadcast_tlbi!("vaae1is, {page}"),
            "dsb ish",
            "isb",
            page = in(reg) address >> 12,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = address;
}

/// Invalidates on all cores the translation of the page at `address` for an ASID of EL0.
pub fn invalidate_asid_page(asid: u8, address: usize) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a dropped translation is looked up again (Arm ARM, D8.14).
    unsafe {
        core::arch::asm!(
            "dsb ishst",
            crate::broadcast_tlbi!("vae1is, {page}"),
            "dsb ish",
            "isb",
            page = in(reg) (address as u64 >> 12) & 0xfff_ffff_ffff | (asid as u64) << 48,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = (asid, address);
}

/// Invalidates on all cores all translations of an ASID of EL0.
pub fn invalidate_asid(asid: u8) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a dropped translation is looked up again (Arm ARM, D8.14).
    unsafe {
        core::arch::asm!(
            "dsb ishst",
            crate::broadcast_tlbi!("aside1is, {asid}"),
            "dsb ish",
            "isb",
            asid = in(reg) (asid as u64) << 48,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = asid;
}

#[cfg(test)]
mod tests {
    use super::control;

    /// The values of Linux's SCTLR_EL1_RES1 and SCTLR_EL2_RES1, on an Armv8.0 core.
    #[test]
    fn reserved_bits_are_one() {
        assert_eq!(control(1, false), 0x30d0_0980 | 0x100d);
        assert_eq!(control(2, false), 0x30e5_0830 | 0x100d);
        assert_eq!(control(2, true) ^ control(2, false), 1 << 19);
    }
}
