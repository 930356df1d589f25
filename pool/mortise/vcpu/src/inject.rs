//! Exceptions injected into a guest.

use hw_arch::{El2, ExceptionLevel, read_register, write_register};

/// Injects an Undefined Instruction exception for the trapped instruction.
///
/// A register or instruction that a VM may not use is undefined for it; the kernel of the guest handles
/// the exception (Arm ARM, D1.3.4, entry into EL1; syndrome class 0).
pub fn inject_undefined() {
    let (state, address) = (El2::read_spsr(), El2::read_elr());
    let has_pan = read_register!("id_aa64mmfr1_el1") >> 20 & 0xf != 0;
    let entered = state_on_entry(state, read_register!("sctlr_el1"), has_pan);
    // EC 0 (unknown reason), with the length of the trapped instruction.
    write_register!("esr_el1", El2::read_esr() & INSTRUCTION_LENGTH);
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

/// Processor state after an exception to EL1 from `state` under its `SCTLR_EL1`: EL1h, all of DAIF
/// masked, flags kept, and PAN set if `SCTLR_EL1.SPAN` = 0 (Arm ARM, D1.3.1).
const fn state_on_entry(state: u64, control: u64, has_pan: bool) -> u64 {
    const FLAGS: u64 = 0xf << 28;
    const PAN: u64 = 1 << 22;
    const SPAN: u64 = 1 << 23;
    let pan = if has_pan && control & SPAN == 0 {
        PAN
    } else if has_pan {
        state & PAN
    } else {
        0
    };
    0x3c5 | state & FLAGS | pan
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
    use super::{state_on_entry, vector_offset};

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
        // Of an AArch32 state only the flags are kept.
        assert_eq!(state_on_entry(0x0fbf_ffff, span, false), 0x3c5);
    }
}
