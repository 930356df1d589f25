//! Entry at EL2 of an image for EL1: the drop from EL2 to EL1.

/// Writes the code with this name for a core that was started at EL2 and drops to EL1 permanently: the
/// `other` of an image entry at EL1.
///
/// `HCR_EL2.RW` makes EL1 AArch64. EL1 may access the timers and, if there are any
/// (`ID_AA64PFR0_EL1.GIC`), the registers of the GIC. SPSR 0x3c5 is EL1 on `SP_EL1` with all
/// exceptions masked. x30 is the return address into the entry code (Arm ARM, D1.2).
#[macro_export]
macro_rules! drop_to_el1 {
    ($name:literal) => {
        #[cfg(target_os = "none")]
        core::arch::global_asm!(
            concat!(".section .text.", $name, ", \"ax\""),
            concat!(".global ", $name),
            concat!($name, ":"),
            "    cmp x0, #8",
            "1:  b.ne 1b",
            "    mov x0, #1 << 31",
            "    msr hcr_el2, x0",
            "    mov x0, #3",
            "    msr cnthctl_el2, x0",
            "    msr cntvoff_el2, xzr",
            "    mrs x0, midr_el1",
            "    msr vpidr_el2, x0",
            "    mrs x0, mpidr_el1",
            "    msr vmpidr_el2, x0",
            "    mov x0, #0x33ff",
            "    msr cptr_el2, x0",
            "    msr hstr_el2, xzr",
            "    mrs x0, id_aa64pfr0_el1",
            "    ubfx x0, x0, #24, #4",
            "    cbz x0, 2f",
            "    mov x0, #0xf",
            "    msr icc_sre_el2, x0",
            "    isb",
            "2:",
            "    mov x0, #0x0800",
            "    movk x0, #0x30d0, lsl #16",
            "    msr sctlr_el1, x0",
            "    mov x0, #0x3c5",
            "    msr spsr_el2, x0",
            "    msr elr_el2, x30",
            "    eret",
            ".previous",
        );
    };
}
