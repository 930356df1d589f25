//! Classes of instructions that cost more on hardware than the emulator counts.

/// Counters beside instructions: barriers, system-register writes, device accesses.
pub const KINDS: usize = 3;
/// Index of device accesses, which are known only at execution.
pub const MMIO: usize = 2;

/// The class of an A64 instruction, if any (Arm ARM, C4.1.66).
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

/// A mark in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Begin of a path.
    Begin,
    /// End of a path.
    End,
}

/// The mark of an instruction: `hint #126` or `hint #127`, which `pool/hw/pmu` emits. They execute as
/// NOPs (Arm ARM, C6.2.126).
pub const fn mark(instruction: u32) -> Option<Mark> {
    match instruction {
        0xd503_2fdf => Some(Mark::Begin),
        0xd503_2fff => Some(Mark::End),
        _ => None,
    }
}

/// Effect of an instruction of Mortise on its visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    #[default]
    Plain,
    /// Checks for pending interrupts: `MRS Xt, ISR_EL1`, or unmasks them: `MSR DAIFClr`.
    Look,
    /// Returns to a guest: `ERET`.
    Return,
    /// Waits for an interrupt: `WFI`.
    Wait,
}

/// The effect of an instruction (Arm ARM, C6.2).
pub const fn step(instruction: u32) -> Step {
    match instruction {
        0xd69f_03e0 => Step::Return,
        0xd503_207f => Step::Wait,
        _ if instruction & 0xffff_ffe0 == 0xd538_c100 => Step::Look,
        _ if instruction & 0xffff_f0ff == 0xd503_40ff => Step::Look,
        _ => Step::Plain,
    }
}

/// Packs an instruction's address and effect in the one number that QEMU passes to a callback.
pub const fn place(address: u64, step: Step) -> usize {
    // Instructions are aligned to 4.
    address as usize | step as usize
}

/// Unpacks the result of `place`.
pub const fn placed(place: usize) -> (u64, Step) {
    let step = match place & 3 {
        0 => Step::Plain,
        1 => Step::Look,
        2 => Step::Return,
        _ => Step::Wait,
    };
    (place as u64 & !3, step)
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
    }

    #[test]
    fn marks_are_the_last_two_hints() {
        let words = [0xd5032fdf, 0xd5032fff, 0xd503201f, 0xd5032fbf];
        assert_eq!(
            words.map(mark),
            [Some(Mark::Begin), Some(Mark::End), None, None],
            "hint #126, hint #127, nop, hint #125"
        );
    }

    #[test]
    fn steps_are_told_apart() {
        let words = [0xd538c103, 0xd50342ff, 0xd69f03e0, 0xd503207f];
        assert_eq!(
            words.map(step),
            [Step::Look, Step::Look, Step::Return, Step::Wait],
            "mrs x3, isr_el1; msr daifclr, #2; eret; wfi"
        );
        let words = [0xd50342df, 0xd538c000, 0xd65f03c0, 0xd503205f];
        assert_eq!(
            words.map(step),
            [Step::Plain; 4],
            "msr daifset, #2; mrs x0, vbar_el1; ret; wfe"
        );
    }

    #[test]
    fn places_are_taken_apart() {
        for step in [Step::Plain, Step::Look, Step::Return, Step::Wait] {
            assert_eq!(placed(place(0x4020_0004, step)), (0x4020_0004, step));
        }
    }
}
