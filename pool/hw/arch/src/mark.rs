//! Reads of the cycle counter that a tool which watches instructions can see.
//!
//! Beside the read there is a hint that the architecture has given no meaning, which executes as NOP
//! (Arm ARM, C6.2.126). Both are one piece of assembly, so that nothing comes between them.

/// PMCCNTR_EL0 where a path begins, behind `hint #126`.
#[inline(always)]
#[must_use]
pub fn begin() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: neither a hint nor reading the counter changes any state.
        unsafe {
            core::arch::asm!("hint #126", "mrs {}, pmccntr_el0", out(reg) value, options(nostack, preserves_flags));
        }
        value
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
}

/// PMCCNTR_EL0 where a path ends, before `hint #127`.
#[inline(always)]
#[must_use]
pub fn end() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: as in `begin`.
        unsafe {
            core::arch::asm!("mrs {}, pmccntr_el0", "hint #127", out(reg) value, options(nostack, preserves_flags));
        }
        value
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
}
