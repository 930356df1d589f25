//! Identification registers as a guest reads them: those of the core, limited to
//! [`FEATURES`](crate::features::FEATURES).

use crate::{features::LIMITS, traps};

/// Every other field of four bits, and the lowest bit of each.
const FIELDS: u64 = 0x0f0f_0f0f_0f0f_0f0f;
const ONES: u64 = 0x0101_0101_0101_0101;

// Reads of the identification registers, two instructions each. One without a name reads as zero (Arm
// ARM, D19.1.1).
#[cfg(target_os = "none")]
core::arch::global_asm!(
    ".section .text.id_registers, \"ax\"",
    "mortise_id_registers:",
    ".irp crm, 0, 1, 2, 3, 4, 5, 6, 7\n.irp op2, 0, 1, 2, 3, 4, 5, 6, 7",
    "    mrs x0, S3_0_C0_C\\crm\\()_\\op2",
    "    ret",
    ".endr\n.endr\n.previous",
);

/// `EL1` to `EL3` of `ID_AA64PFR0_EL1`: AArch32 of EL1, and levels that are not a guest's.
const LEVELS: u64 = 0xfff0;

/// Value of an identification register for the guest of this core.
#[must_use]
pub fn id_register(encoding: u16) -> u64 {
    let most = LIMITS[usize::from(traps::traps_pmu_and_debug())][usize::from(encoding & 63)];
    let value = read(encoding & 63);
    limit(value & FIELDS, most & FIELDS) | limit(value >> 4 & FIELDS, most >> 4 & FIELDS) << 4
}

/// Whether this core has a feature of AArch64 that its guest must not see.
pub(crate) fn hides_features() -> bool {
    (32..64).any(|at| {
        read(at) != 0 && (id_register(at) ^ read(at)) & !if at == 32 { LEVELS } else { 0 } != 0
    })
}

/// Value of an identification register of this core.
#[cfg_attr(
    not(target_os = "none"),
    expect(unused, reason = "the registers are read on target")
)]
fn read(index: u16) -> u64 {
    let mut value = 0;
    #[cfg(target_os = "none")]
    // SAFETY: the index is one of the 64 reads, each of which changes x0 and returns to x30.
    unsafe {
        core::arch::asm!(
            "adr x0, mortise_id_registers", "add x0, x0, {index}, lsl #3", "blr x0",
            index = in(reg) u64::from(index), out("x0") value, out("x30") _, options(nomem, nostack)
        );
    }
    value
}

/// The lesser of each field and its limit, of every other field.
const fn limit(value: u64, most: u64) -> u64 {
    let within = ((most | ONES << 4) - value) >> 4 & ONES;
    value & (within * 15) | most & ((ONES - within) * 15)
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, limit};
    use crate::features::LIMITS;

    #[test]
    fn each_field_is_limited_by_itself() {
        for value in 0u64..16 {
            for most in 0..16 {
                for low in (0..64).step_by(8) {
                    let found = limit(value << low, most << low);
                    assert_eq!(found, value.min(most) << low, "{value} {most} {low}");
                }
            }
        }
    }

    /// What a guest alone reads of a register, and on a shared core.
    fn seen(crm: usize, op2: usize, value: u64) -> [u64; 2] {
        [0, 1].map(|shared| {
            let most: u64 = LIMITS[shared][crm * 8 + op2];
            limit(value & FIELDS, most & FIELDS)
                | limit(value >> 4 & FIELDS, most >> 4 & FIELDS) << 4
        })
    }

    #[test]
    fn a_cortex_a53_is_seen_without_el2_and_el3() {
        assert_eq!(seen(4, 0, 0x2222), [0x0012; 2], "ID_AA64PFR0_EL1");
        assert_eq!(seen(5, 0, 0x1030_5106), [0x1030_5106, 0x1030_5006]);
        assert_eq!(seen(6, 0, 0x1_1120), [0x1_1120; 2]);
        assert_eq!(seen(7, 0, 0x1122), [0x1122; 2]);
        assert_eq!(seen(1, 2, 0x0301_0066), [0x0300_0006, 0x0000_0006]);
    }

    #[test]
    fn what_traps_is_hidden_and_unknown_features_are_absent() {
        // RAS, SVE, AMU and MPAM, and CSV2 of 2.
        let pfr0 = 0x1201_1111_1111_2222;
        assert_eq!(seen(4, 0, pfr0), [0x1101_0000_0111_0012; 2]);
        // BT, SSBS and CSV2_frac, not MTE, SME and others.
        assert_eq!(seen(4, 1, u64::MAX), [0x1_0000_0021; 2]);
        for (crm, op2) in [(1, 3), (4, 2), (4, 4), (4, 5), (5, 1), (7, 3), (7, 7)] {
            assert_eq!(seen(crm, op2, u64::MAX), [0; 2], "{crm} {op2}");
        }
    }
}
