//! Kinds of instructions that cost more on hardware than the one that the emulator counts.

/// What is counted beside instructions: barriers, system-register writes, accesses to devices.
pub const KINDS: usize = 3;
/// The index of device accesses, which only show when they are made.
pub const MMIO: usize = 2;

/// The kind of an A64 instruction, if it is of one (Arm ARM, C4.1.66).
pub const fn kind(instruction: u32) -> Option<usize> {
    let barrier = matches!(
        instruction & 0xffff_f0ff,
        0xd503_309f | 0xd503_30bf | 0xd503_30df
    );
    let immediate = instruction & 0xfff8_f01f == 0xd500_401f;
    let register = instruction & 0xfff0_0000 == 0xd510_0000;
    if barrier {
        Some(0)
    } else if immediate || register {
        Some(1)
    } else {
        None
    }
}

/// Whether an instruction reads PMCCNTR_EL0: the end of a span a program measures, and the
/// beginning of the next.
pub const fn reads_counter(instruction: u32) -> bool {
    instruction & !0x1f == 0xd53b_9d00
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let words = [0xd5033f9f, 0xd5033bbf, 0xd5033fdf, 0xd50342df, 0xd51bd060];
        assert_eq!(
            words.map(kind),
            [Some(0), Some(0), Some(0), Some(1), Some(1)],
            "dsb sy, dmb ish, isb, msr daifset, msr tpidrro"
        );
        let words = [0xd503201f, 0xd53b9d03, 0xd65f03c0, 0xd5033f5f];
        assert_eq!(words.map(kind), [None; 4], "nop, mrs, ret, clrex");
        assert!(reads_counter(0xd53b_9d03) && !reads_counter(0xd53b_9c00));
    }
}
