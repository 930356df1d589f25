//! Marked reads of the cycle counter, which a tool that observes instructions can recognise.
//!
//! Next to the read there is a hint without a meaning in the architecture, which executes as NOP
//! (Arm ARM, C6.2.126). Both are one piece of assembly, so that no instruction comes between them.

/// PMCCNTR_EL0 at the start of a measured path, after `hint #126`.
#[inline(always)]
#[must_use]
pub fn begin() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: neither the hint nor the read of the counter changes state.
        unsafe {
            core::arch::asm!("hint #126", "mrs {}, pmccntr_el0", out(reg) value, options(nostack, preserves_flags));
        }
        value
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
}

/// PMCCNTR_EL0 at the end of a measured path, before `hint #127`.
#[inline(always)]
#[must_use]
pub fn end() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: neither the hint nor the read of the counter changes state.
        unsafe {
            core::arch::asm!("mrs {}, pmccntr_el0", "hint #127", out(reg) value, options(nostack, preserves_flags));
        }
        value
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
}
