//! Exceptions injected into a guest.

use hw_arch::{El2, ExceptionLevel, read_register, write_register};

/// Injects an Undefined Instruction exception for the trapped instruction.
///
/// A register or instruction that a VM may not use is undefined for it; the kernel of the guest handles
/// the exception (Arm ARM, D1.3.4, entry into EL1; syndrome class 0).
pub fn inject_undefined() {
    // EC 0 (unknown reason), with the length of the trapped instruction.
    enter_el1(El2::read_esr() & INSTRUCTION_LENGTH);
}

/// Injects a synchronous external abort for the access that took a stage 2 abort: what a machine does
/// that has nothing at the address (Arm ARM, D19.2.37, instruction and data aborts).
pub fn inject_external_abort() {
    // FAR_EL2 holds the virtual address after each stage 2 abort (Arm ARM, D19.2.40).
    write_register!("far_el1", El2::read_far());
    enter_el1(external_abort(
        El2::read_esr(),
        is_from_el0(El2::read_spsr()),
    ));
}

/// Whether the exit was taken from EL0.
#[inline]
#[must_use]
pub fn is_exit_from_el0() -> bool {
    is_from_el0(El2::read_spsr())
}

/// Takes the guest to its EL1 with this syndrome, as if by an exception of the current instruction.
fn enter_el1(syndrome: u64) {
    let (state, address) = (El2::read_spsr(), El2::read_elr());
    let has_pan = read_register!("id_aa64mmfr1_el1") >> 20 & 0xf != 0;
    let entered = state_on_entry(state, read_register!("sctlr_el1"), has_pan);
    write_register!("esr_el1", syndrome);
    write_register!("elr_el1", address);
    write_register!("spsr_el1", state);
    let vector = read_register!("vbar_el1").wrapping_add(vector_offset(state));
    // SAFETY: changes the program counter and processor state of the guest only.
    unsafe {
        El2::write_elr(vector);
        El2::write_spsr(entered);
    }
}

/// `ESR_ELx.IL`.
const INSTRUCTION_LENGTH: u64 = 1 << 25;

/// Whether `state` is EL0: `SPSR_EL2.M` is 0b00000 (`EL0t`) or 0b10000 (User mode of AArch32).
const fn is_from_el0(state: u64) -> bool {
    state & 0xf == 0
}

/// Syndrome of EL1 for an external abort of the access with stage 2 syndrome `esr`: class by the
/// exception level, instruction length, cache maintenance and write as they are, no valid ISS of the
/// access (Arm ARM, D19.2.37, `ISV`: 0 unless the abort is taken to EL2).
const fn external_abort(esr: u64, from_el0: bool) -> u64 {
    /// 0x20 or 0x24, an abort from a lower exception level.
    const CLASS: u64 = 0x3f << 26;
    const SAME_LEVEL: u64 = 1 << 26;
    const DATA_ABORT: u64 = 1 << 28;
    const MAINTENANCE_WRITE: u64 = 1 << 8 | 1 << 6;
    const ON_WALK: u64 = 1 << 7;
    /// xFSC: not on a table walk; on one, of level 0, as the level at stage 1 is not reported.
    const EXTERNAL: u64 = 0b01_0000;
    const EXTERNAL_ON_WALK: u64 = 0b01_0100;
    let level = if from_el0 { 0 } else { SAME_LEVEL };
    let access = if esr & DATA_ABORT != 0 {
        MAINTENANCE_WRITE
    } else {
        0
    };
    let status = if esr & ON_WALK != 0 {
        EXTERNAL_ON_WALK
    } else {
        EXTERNAL
    };
    esr & (CLASS | INSTRUCTION_LENGTH | access) | level | status
}

/// Processor state after an exception to EL1 from `state` under its `SCTLR_EL1`: EL1h, all of DAIF
/// masked, flags and DIT kept, SSBS from `SCTLR_EL1.DSSBS`, and PAN set if `SCTLR_EL1.SPAN` = 0 (Arm
/// ARM, D1.3.1, AArch64.TakeException). BTYPE, IL, SS and UAO are zero;
/// so is TCO, which has no effect, as no guest has memory tags.
const fn state_on_entry(state: u64, control: u64, has_pan: bool) -> u64 {
    const FLAGS: u64 = 0xf << 28;
    const PAN: u64 = 1 << 22;
    const SPAN: u64 = 1 << 23;
    const AARCH32: u64 = 1 << 4;
    const DIT: u64 = 1 << 24;
    /// `SCTLR_EL1.DSSBS` is bit 44.
    const SSBS: u64 = 1 << 12;
    let pan = if has_pan && control & SPAN == 0 {
        PAN
    } else if has_pan {
        state & PAN
    } else {
        0
    };
    // PSTATE.DIT is bit 21 of a state of AArch32, bit 24 of AArch64.
    let dit = if state & AARCH32 != 0 {
        state << 3
    } else {
        state
    } & DIT;
    0x3c5 | state & FLAGS | pan | dit | control >> 32 & SSBS
}

/// Offset of the synchronous vector for an exception taken from `state`.
const fn vector_offset(state: u64) -> u64 {
    match state & 0x1f {
        0b00100 => 0x000,
        0b00101 => 0x200,
        0b00000 => 0x400,
        _ => 0x600,
    }
}

#[cfg(test)]
mod tests {
    use super::{external_abort, is_from_el0, state_on_entry, vector_offset};

    #[test]
    fn vector_depends_on_the_source_of_the_exception() {
        assert_eq!(vector_offset(0x3c4), 0x000);
        assert_eq!(vector_offset(0x3c5), 0x200);
        assert_eq!(vector_offset(0x000), 0x400);
        assert_eq!(vector_offset(0x1f0), 0x600);
    }

    #[test]
    fn pan_follows_span() {
        let (user, pan, span) = (6 << 28, 1 << 22, 1 << 23);
        assert_eq!(state_on_entry(user, 0, true), 0x3c5 | 6 << 28 | pan);
        assert_eq!(state_on_entry(user, span, true), 0x3c5 | 6 << 28);
        assert_eq!(state_on_entry(pan | 5, span, true), 0x3c5 | pan);
        assert_eq!(state_on_entry(pan | 5, 0, false), 0x3c5, "no such bit");
        // Of an AArch32 state only the flags and DIT are kept.
        let dit = 1 << 24;
        assert_eq!(state_on_entry(0x0f9f_ffff, span, false), 0x3c5);
        assert_eq!(state_on_entry(0x0fbf_ffff, span, false), 0x3c5 | dit);
    }

    #[test]
    fn speculation_follows_dssbs_and_timing_is_kept() {
        let (dit, ssbs, dssbs, step, uao, btype) =
            (1 << 24, 1 << 12, 1 << 44, 1 << 21, 1 << 23, 3 << 10);
        assert_eq!(state_on_entry(dit, 0, false), 0x3c5 | dit);
        assert_eq!(state_on_entry(dit | ssbs, 0, false), 0x3c5 | dit);
        assert_eq!(state_on_entry(0, dssbs, false), 0x3c5 | ssbs);
        assert_eq!(state_on_entry(step | uao | btype, 0, false), 0x3c5);
    }

    #[test]
    fn an_abort_of_stage_2_becomes_an_external_abort() {
        let (length, write, maintenance) = (1 << 25, 1 << 6, 1 << 8);
        // A permission fault on a fetch, level 3, from EL0 and from EL1.
        let fetch = 0x20 << 26 | length | 0x0f;
        assert_eq!(external_abort(fetch, true), 0x20 << 26 | length | 0x10);
        assert_eq!(external_abort(fetch, false), 0x21 << 26 | length | 0x10);
        // A store with a valid syndrome, of which only the direction is kept.
        let store = 0x24 << 26 | length | 1 << 24 | 3 << 22 | 5 << 16 | write | 0x06;
        let told = 0x24 << 26 | length | write | 0x10;
        assert_eq!(external_abort(store, true), told);
        assert_eq!(external_abort(store, false), told | 1 << 26);
        // Cache maintenance counts as a write; a 16-bit instruction of AArch32.
        let clean = 0x24 << 26 | maintenance | write | 0x07;
        let told = 0x24 << 26 | maintenance | write | 0x10;
        assert_eq!(external_abort(clean, true), told);
        // On a walk of stage 1.
        let walk = 0x24 << 26 | length | 1 << 7 | 0x06;
        assert_eq!(external_abort(walk, true), 0x24 << 26 | length | 0x14);
    }

    #[test]
    fn el0_is_told_from_el1_in_both_execution_states() {
        for (mode, expected) in [
            (0x00, true),
            (0x10, true),
            (0x04, false),
            (0x05, false),
            (0x13, false),
        ] {
            assert_eq!(is_from_el0(0x3c0 | mode), expected, "{mode:#x}");
        }
    }
}
