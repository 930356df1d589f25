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

/// What an instruction says of the path a program measures itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Here it begins.
    Begin,
    /// Here it ends.
    End,
}

/// The mark that an instruction is: `hint #126` or `hint #127`, which `pool/hw/pmu` puts at the
/// ends. To the core they are NOPs (Arm ARM, C6.2.126).
pub const fn mark(instruction: u32) -> Option<Mark> {
    match instruction {
        0xd503_2fdf => Some(Mark::Begin),
        0xd503_2fff => Some(Mark::End),
        _ => None,
    }
}

/// What an instruction of Mortise does to a visit of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    #[default]
    Plain,
    /// It looks at what is pending: `MRS Xt, ISR_EL1`, or takes what is: `MSR DAIFClr`.
    Look,
    /// It returns to a guest: `ERET`.
    Return,
    /// It waits for an interrupt: `WFI`.
    Wait,
}

/// The step that an instruction is (Arm ARM, C6.2).
pub const fn step(instruction: u32) -> Step {
    match instruction {
        0xd69f_03e0 => Step::Return,
        0xd503_207f => Step::Wait,
        _ if instruction & 0xffff_ffe0 == 0xd538_c100 => Step::Look,
        _ if instruction & 0xffff_f0ff == 0xd503_40ff => Step::Look,
        _ => Step::Plain,
    }
}

/// An instruction's address and step in one number, which is all that QEMU hands back.
pub const fn place(address: u64, step: Step) -> usize {
    // Instructions are aligned to 4.
    address as usize | step as usize
}

/// What `place` was made of.
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
