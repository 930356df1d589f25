//! Entry state of the context of a detached program or hyplet, and the classification of its
//! exceptions at EL2.
//!
//! No code is mapped at EL1: the upper half of its address space has its translation table at [`NOWHERE`],
//! where no VM has memory, and its vectors lie in that half. An exception that EL0 takes to EL1
//! fetches its first instruction through that table; the walk takes a stage 2 fault (Arm ARM,
//! D8.2.9), an exception to EL2, before any instruction of EL1 executes.

/// An IPA at which no VM has memory: the last page that stage 2 could map.
pub(crate) const NOWHERE: u64 = (1 << 39) - 0x1000;

/// `VBAR_EL1` of an empty EL1: in the upper half of any size.
pub(crate) const VECTORS: u64 = 0xffff_ffff_ffff_0000;

/// The synchronous vector for exceptions of EL0 in AArch64.
const SYNCHRONOUS: u64 = VECTORS + 0x400;

/// Fields of `TCR_EL1` on which an empty EL1 depends, whatever the cell holds: the upper half has
/// 39 bits in 4 KiB pages, its table is walked, and [`NOWHERE`] is a valid output address. A stage
/// 1 fault would be taken to EL1, whose vector takes the next such fault, for ever.
mod upper_half {
    /// T1SZ, TG1 and IPS, set by Mortise.
    pub(super) const FIXED: u64 = 25 << 16 | 0b10 << 30 | 0b010 << 32;
    /// Fields of the lower half: T0SZ, EPD0, IRGN0, ORGN0, SH0, TG0; A1, AS; TBI0, HA, HD, HPD0,
    /// TBID0, NFD0, E0PD0 (Arm ARM, D19.2.139).
    pub(super) const LOWER: u64 =
        0xffbf | 1 << 22 | 3 << 36 | 7 << 39 | 1 << 51 | 1 << 53 | 1 << 55;
}

/// `SCTLR_EL1.M`: translation is on.
const TRANSLATION: u64 = 1;

/// Fields of `SPSR_EL2`.
mod state {
    pub(super) const MODE: u64 = 0x1f;
    pub(super) const EL0: u64 = 0;
    pub(super) const EL1: u64 = 0b00101;
    /// D, A, I, F: a context takes no interrupt of its own.
    pub(super) const MASKED: u64 = 0xf << 6;
    /// Fields that EL0 may set: NZCV, TCO, DIT, SSBS, BTYPE.
    pub(super) const USER: u64 = 0xf << 28 | 1 << 25 | 1 << 24 | 1 << 12 | 3 << 10;
    /// Fields that EL1 may set in addition: UAO, PAN.
    pub(super) const KERNEL: u64 = 3 << 22;
}

/// Exception level of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// EL0, with an empty EL1.
    User,
    /// EL1, with its VM's own upper half.
    Kernel,
}

impl Level {
    /// The initial state of a context at this level for the `state` of its cell; `None` if that is
    /// a state of another level.
    pub(crate) const fn entry_spsr(self, state: u64) -> Option<u64> {
        let (mode, kept) = match self {
            Self::User => (state::EL0, state::USER),
            Self::Kernel => (state::EL1, state::USER | state::KERNEL),
        };
        if state & state::MODE == mode {
            Some(state & kept | mode | state::MASKED)
        } else {
            None
        }
    }

    /// `TCR_EL1` of a context with `tcr` in its cell.
    pub(crate) const fn tcr_el1(self, tcr: u64) -> u64 {
        match self {
            Self::User => tcr & upper_half::LOWER | upper_half::FIXED,
            Self::Kernel => tcr,
        }
    }

    /// `SCTLR_EL1` of a context with `sctlr` in its cell.
    pub(crate) const fn sctlr_el1(self, sctlr: u64) -> u64 {
        match self {
            Self::User => sctlr | TRANSLATION,
            Self::Kernel => sctlr,
        }
    }

    /// The state that is stored in the cell when a context returned in `state`.
    pub(crate) const fn returned_spsr(state: u64) -> u64 {
        state & !state::MASKED
    }
}

/// Syndrome registers of a synchronous exception to EL2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// `ESR_EL2`.
    pub esr: u64,
    /// `FAR_EL2`.
    pub far: u64,
    /// `HPFAR_EL2`.
    pub hpfar: u64,
    /// `SPSR_EL2`.
    pub spsr: u64,
}

/// Meaning of the exception for the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitClass {
    /// EL0 took an exception, which the registers of EL1 describe.
    Exception,
    /// EL0 took an interrupt.
    Interrupt,
    /// EL0 accessed the upper half, where nothing is mapped; with this syndrome.
    UpperHalf(u64),
    /// EL1 called Mortise: it is complete.
    Call,
    /// Handled as for any guest.
    Guest,
}

/// Exception classes (Arm ARM, D19.2.37).
mod class {
    pub(super) const HVC: u64 = 0x16;
    pub(super) const SMC: u64 = 0x17;
    pub(super) const FETCH: u64 = 0x20;
    pub(super) const ACCESS: u64 = 0x24;
}

impl Exit {
    /// Classifies the exception of a context at this level.
    pub(crate) const fn classify(&self, level: Level) -> ExitClass {
        let class = self.esr >> 26 & 0x3f;
        match (level, self.spsr & state::MODE, class) {
            (Level::User, state::EL1, class::FETCH) if self.is_nowhere() => match self.far {
                SYNCHRONOUS => ExitClass::Exception,
                _ => ExitClass::Interrupt,
            },
            (Level::User, state::EL0, class::FETCH | class::ACCESS) if self.is_nowhere() => {
                ExitClass::UpperHalf(self.as_stage_1())
            }
            (Level::Kernel, _, class::HVC | class::SMC) => ExitClass::Call,
            _ => ExitClass::Guest,
        }
    }

    /// Whether a table walk reached `NOWHERE`.
    const fn is_nowhere(&self) -> bool {
        const ON_WALK: u64 = 1 << 7;
        self.esr & ON_WALK != 0 && (self.hpfar & 0x0fff_ffff_fff0) << 8 == NOWHERE
    }

    /// The same abort as its VM's kernel would see it: a translation fault of level 0.
    const fn as_stage_1(&self) -> u64 {
        const CLASS_LENGTH: u64 = 0x7f << 25;
        const MAINTENANCE_WRITE: u64 = 1 << 8 | 1 << 6;
        const TRANSLATION_LEVEL_0: u64 = 0b00_0100;
        self.esr & (CLASS_LENGTH | MAINTENANCE_WRITE) | TRANSLATION_LEVEL_0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A stage 2 fault of this class on a table walk.
    fn walk(class: u64, far: u64, spsr: u64) -> Exit {
        Exit {
            esr: class << 26 | 1 << 25 | 1 << 7 | 0b101,
            far,
            hpfar: NOWHERE >> 8,
            spsr,
        }
    }

    #[test]
    fn exceptions_of_el0_are_recognised_by_the_missing_vector() {
        let at = |offset| walk(class::FETCH, VECTORS + offset, 0x3c5).classify(Level::User);
        assert_eq!(at(0x400), ExitClass::Exception);
        for offset in [0x480, 0x500, 0x580] {
            assert_eq!(at(offset), ExitClass::Interrupt);
        }
    }

    #[test]
    fn the_upper_half_is_unmapped() {
        let store = Exit {
            esr: class::ACCESS << 26 | 1 << 25 | 1 << 7 | 1 << 6 | 0b101,
            ..walk(class::ACCESS, 0xffff_8000_0000_0000, 0)
        };
        let told = 0x24 << 26 | 1 << 25 | 1 << 6 | 4;
        assert_eq!(store.classify(Level::User), ExitClass::UpperHalf(told));
        let jump = walk(class::FETCH, SYNCHRONOUS, 0);
        assert_eq!(
            jump.classify(Level::User),
            ExitClass::UpperHalf(0x20 << 26 | 1 << 25 | 4)
        );
    }

    #[test]
    fn other_exceptions_are_those_of_any_guest() {
        let elsewhere = Exit {
            hpfar: 0x0900_0000 >> 8,
            ..walk(class::ACCESS, 0x1000, 0)
        };
        assert_eq!(elsewhere.classify(Level::User), ExitClass::Guest);
        let no_walk = Exit {
            esr: class::FETCH << 26 | 0b101,
            ..walk(class::FETCH, SYNCHRONOUS, 0x3c5)
        };
        assert_eq!(no_walk.classify(Level::User), ExitClass::Guest);
        let call = walk(class::HVC, 0, 0x3c5);
        assert_eq!(call.classify(Level::User), ExitClass::Guest);
        assert_eq!(call.classify(Level::Kernel), ExitClass::Call);
        assert_eq!(
            walk(class::FETCH, VECTORS, 0x3c5).classify(Level::Kernel),
            ExitClass::Guest
        );
    }

    proptest! {
        #[test]
        fn no_cell_has_an_empty_el1_fault_at_stage_1(tcr in any::<u64>(), sctlr in any::<u64>()) {
            let field = |value: u64, low: u32, high: u32| value >> low & ((1 << (high - low + 1)) - 1);
            let user = Level::User.tcr_el1(tcr);
            prop_assert_eq!(field(user, 16, 21), 25, "T1SZ");
            prop_assert_eq!(field(user, 23, 23), 0, "EPD1");
            prop_assert_eq!(field(user, 30, 31), 0b10, "TG1: 4 KiB");
            prop_assert_eq!(field(user, 32, 34), 0b010, "IPS: 40 bits");
            prop_assert!(NOWHERE < 1 << 40 && VECTORS >= u64::MAX << 39);
            prop_assert_eq!(field(user, 59, 59), 0, "DS");
            // The fields of the lower half are kept: size, granule, attributes and choice of the
            // ASID.
            for (low, high) in [(0, 5), (7, 15), (22, 22), (36, 37), (39, 41)] {
                prop_assert_eq!(field(user, low, high), field(tcr, low, high));
            }
            prop_assert_eq!(Level::User.sctlr_el1(sctlr), sctlr | 1);
            prop_assert_eq!(Level::Kernel.tcr_el1(tcr), tcr);
            prop_assert_eq!(Level::Kernel.sctlr_el1(sctlr), sctlr);
        }

        #[test]
        fn a_context_begins_at_its_own_level_with_all_masked(state in any::<u64>()) {
            for (level, mode) in [(Level::User, 0), (Level::Kernel, 5)] {
                let entered = level.entry_spsr(state);
                prop_assert_eq!(entered.is_some(), state & 0x1f == mode);
                let Some(entered) = entered else { continue };
                // AArch64, the level, all exceptions masked.
                prop_assert_eq!(entered & 0x3df, 0x3c0 | mode);
                // No single step, no illegal state, no unknown bit.
                prop_assert_eq!(entered & !(0xf3c0_1c00 | 0x3c0 | mode), 0);
                prop_assert_eq!(entered >> 28, state >> 28 & 0xf);
                prop_assert_eq!(Level::returned_spsr(entered) & 0x3c0, 0);
                prop_assert_eq!(level.entry_spsr(Level::returned_spsr(entered)), Some(entered));
            }
        }

        #[test]
        fn every_exception_has_a_class(
            esr in any::<u64>(), far in any::<u64>(), hpfar in any::<u64>(), spsr in any::<u64>(),
        ) {
            let exit = Exit { esr, far, hpfar, spsr };
            let user = exit.classify(Level::User);
            if let ExitClass::UpperHalf(told) = user {
                prop_assert_eq!(told >> 26, esr >> 26 & 0x3f);
                prop_assert_eq!(told & 0x3f, 4);
            }
            prop_assert!(!matches!(exit.classify(Level::Kernel), ExitClass::Exception | ExitClass::UpperHalf(_)));
        }
    }
}
