//! Exceptions that the guest takes itself.

use hw_arch::{El2, ExceptionLevel, read_register, write_register};

/// Lets the guest take the instruction that trapped as undefined.
///
/// A register or instruction that a virtual machine has no right to does not
/// exist for it; its own kernel decides what that means (Arm ARM, D1.3.4, entry
/// into EL1; syndrome class 0).
pub fn inject_undefined() {
    let (state, address) = (El2::read_spsr(), El2::read_elr());
    write_register!("esr_el1", 1 << 25);
    write_register!("elr_el1", address);
    write_register!("spsr_el1", state);
    let vector = read_register!("vbar_el1").wrapping_add(vector_offset(state));
    // SAFETY: only the guest's own program counter and state change.
    unsafe {
        El2::write_elr(vector);
        El2::write_spsr(0x3c5);
    }
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
    use super::vector_offset;

    #[test]
    fn vectors_by_where_the_exception_came_from() {
        assert_eq!(vector_offset(0x3c4), 0x000);
        assert_eq!(vector_offset(0x3c5), 0x200);
        assert_eq!(vector_offset(0x000), 0x400);
        assert_eq!(vector_offset(0x1f0), 0x600);
    }
}
