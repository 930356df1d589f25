//! System registers that are not banked by exception level.
//!
//! Each is a module with `read` and `write`, named as in the Arm ARM (D19) or in the GIC
//! specification (IHI 0069, chapter 12). Reads have no side effects on memory; writes are unsafe
//! wherever they can change the meaning of code or memory.

/// Reads a system register by its assembler name or encoding.
#[macro_export]
macro_rules! read_register {
    ($name:expr) => {{
        #[cfg(target_arch = "aarch64")]
        {
            let value: u64;
            // SAFETY: reading this register has no effect on memory or control flow.
            unsafe {
                core::arch::asm!(concat!("mrs {}, ", $name), out(reg) value, options(nostack, preserves_flags));
            }
            value
        }
        #[cfg(not(target_arch = "aarch64"))]
        0u64
    }};
}

/// Writes a system register by its assembler name or encoding.
///
/// # Safety
///
/// Expands to an `unsafe` block of its own. Use it only where any value is safe, or inside an
/// `unsafe fn` with this condition in its contract.
#[macro_export]
macro_rules! write_register {
    ($name:expr, $value:expr) => {{
        let value: u64 = $value;
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the macro is used where any value is harmless, or in an `unsafe fn` that states
        // the condition.
        unsafe {
            core::arch::asm!(concat!("msr ", $name, ", {}"), in(reg) value, options(nostack, preserves_flags));
        }
        #[cfg(not(target_arch = "aarch64"))]
        let _ = value;
    }};
}

/// Writes a pointer authentication key register, which the assembler knows as part of an extension.
///
/// # Safety
///
/// As for [`write_register!`](crate::write_register); the core must have pointer authentication.
#[macro_export]
macro_rules! write_key_register {
    ($name:expr, $value:expr) => {{
        let value: u64 = $value;
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the user of the macro ensures that the core has the register and that any value is
        // harmless.
        unsafe {
            core::arch::asm!(
                ".arch_extension pauth",
                concat!("msr ", $name, ", {}"),
                in(reg) value,
                options(nostack, preserves_flags)
            );
        }
        #[cfg(not(target_arch = "aarch64"))]
        let _ = value;
    }};
}

/// Calls a macro with the names of the pointer authentication key registers: instruction A and B, data
/// A and B, generic (Arm ARM, D19.2).
#[macro_export]
macro_rules! with_key_registers {
    ($macro:ident) => {
        $macro!("apiakeylo_el1" "apiakeyhi_el1" "apibkeylo_el1" "apibkeyhi_el1" "apdakeylo_el1"
            "apdakeyhi_el1" "apdbkeylo_el1" "apdbkeyhi_el1" "apgakeylo_el1" "apgakeyhi_el1")
    };
}

macro_rules! registers {
    ($($(#[$doc:meta])* $kind:ident $name:ident = $encoding:literal;)*) => {
        $(
            $(#[$doc])*
            pub mod $name {
                registers!(@$kind $encoding);
            }
        )*
    };
    (@ro $encoding:literal) => {
        /// Reads the register.
        #[inline(always)]
        #[must_use]
        pub fn read() -> u64 { $crate::read_register!($encoding) }
    };
    (@safe $encoding:literal) => {
        registers!(@ro $encoding);
        /// Writes the register; every value is harmless to Rust's guarantees.
        #[inline(always)]
        pub fn write(value: u64) { $crate::write_register!($encoding, value) }
    };
    (@wo $encoding:literal) => {
        /// Writes the register; every value is harmless to Rust's guarantees.
        #[inline(always)]
        pub fn write(value: u64) { $crate::write_register!($encoding, value) }
    };
    (@rw $encoding:literal) => {
        registers!(@ro $encoding);
        /// Writes the register.
        ///
        /// # Safety
        ///
        /// The value must keep the running kernel's code, data and translation
        /// valid.
        #[inline(always)]
        pub unsafe fn write(value: u64) { $crate::write_register!($encoding, value) }
    };
}

registers! {
    /// Affinity of this core.
    ro mpidr_el1 = "mpidr_el1";
    /// Identification of this core.
    ro midr_el1 = "midr_el1";
    /// Interrupts that are pending on this core, masked or not.
    ro isr_el1 = "isr_el1";
    /// Processor features; bits 27:24 are not zero if the GIC's CPU interface is system registers.
    ro id_aa64pfr0_el1 = "id_aa64pfr0_el1";
    /// Memory model features; bits 3:0 are the physical address range.
    ro id_aa64mmfr0_el1 = "id_aa64mmfr0_el1";
    /// Current exception level, bits 3:2.
    ro current_el = "CurrentEL";
    /// Virtual counter.
    ro cntvct_el0 = "cntvct_el0";
    /// Physical counter.
    ro cntpct_el0 = "cntpct_el0";
    /// Counter frequency, in hertz.
    ro cntfrq_el0 = "cntfrq_el0";
    /// Performance monitors control.
    safe pmcr_el0 = "pmcr_el0";
    /// Counters to be enabled.
    safe pmcntenset_el0 = "pmcntenset_el0";
    /// Cycle counter.
    ro pmccntr_el0 = "pmccntr_el0";
    /// Exception levels the cycle counter counts at.
    safe pmccfiltr_el0 = "pmccfiltr_el0";
    /// Bitmap of the first 32 common events that this core can count.
    ro pmceid0_el0 = "pmceid0_el0";
    /// Event and exception levels of the first event counter.
    safe pmevtyper0_el0 = "pmevtyper0_el0";
    /// The first event counter.
    ro pmevcntr0_el0 = "pmevcntr0_el0";
    /// Virtual timer control.
    safe cntv_ctl_el0 = "cntv_ctl_el0";
    /// Virtual timer compare value.
    safe cntv_cval_el0 = "cntv_cval_el0";
    /// Hypervisor timer control.
    safe cnthp_ctl_el2 = "cnthp_ctl_el2";
    /// Hypervisor timer compare value.
    safe cnthp_cval_el2 = "cnthp_cval_el2";
    /// Physical timer control.
    safe cntp_ctl_el0 = "cntp_ctl_el0";
    /// Physical timer compare value.
    safe cntp_cval_el0 = "cntp_cval_el0";

    /// Hypervisor configuration.
    rw hcr_el2 = "hcr_el2";
    /// Hypervisor debug configuration.
    rw mdcr_el2 = "mdcr_el2";
    /// Traps of floating point and trace.
    rw cptr_el2 = "cptr_el2";
    /// Traps of AArch32 system registers.
    rw hstr_el2 = "hstr_el2";
    /// Access of EL1 to the physical counter and timer.
    rw cnthctl_el2 = "cnthctl_el2";
    /// Offset of the virtual counter.
    rw cntvoff_el2 = "cntvoff_el2";
    /// Identification that EL1 reads.
    rw vpidr_el2 = "vpidr_el2";
    /// Affinity that EL1 reads.
    rw vmpidr_el2 = "vmpidr_el2";
    /// Stage 2 root and VMID.
    rw vttbr_el2 = "vttbr_el2";
    /// Stage 2 translation control.
    rw vtcr_el2 = "vtcr_el2";
    /// Deferred SError of EL1, by its encoding as an extension (RAS) has it.
    safe vdisr_el2 = "S3_4_C12_C1_1";
    /// Second thread pointer of EL0, by its encoding as an extension (SME) has it.
    safe tpidr2_el0 = "S3_3_C13_C0_5";
    /// Intermediate physical address of a stage 2 fault.
    ro hpfar_el2 = "hpfar_el2";
    /// Physical address, or fault, of the last address translation instruction.
    ro par_el1 = "par_el1";

    /// Highest priority Group 0 interrupt, acknowledged by reading.
    ro icc_iar0_el1 = "icc_iar0_el1";
    /// End of a Group 0 interrupt.
    wo icc_eoir0_el1 = "icc_eoir0_el1";
    /// Highest priority Group 1 interrupt, acknowledged by reading.
    ro icc_iar1_el1 = "icc_iar1_el1";
    /// End (or priority drop) of a Group 1 interrupt.
    wo icc_eoir1_el1 = "icc_eoir1_el1";
    /// Deactivation of an interrupt.
    wo icc_dir_el1 = "icc_dir_el1";
    /// Group 1 software-generated interrupt.
    wo icc_sgi1r_el1 = "icc_sgi1r_el1";
    /// Group 0 software-generated interrupt.
    wo icc_sgi0r_el1 = "icc_sgi0r_el1";
    /// Priority mask.
    safe icc_pmr_el1 = "icc_pmr_el1";
    /// CPU interface control.
    safe icc_ctlr_el1 = "icc_ctlr_el1";
    /// Group 0 enable.
    safe icc_igrpen0_el1 = "icc_igrpen0_el1";
    /// Group 1 enable.
    safe icc_igrpen1_el1 = "icc_igrpen1_el1";
    /// Binary point of Group 1.
    safe icc_bpr1_el1 = "icc_bpr1_el1";
    /// Active priorities of Group 0.
    safe icc_ap0r0_el1 = "icc_ap0r0_el1";
    /// Active priorities of Group 1.
    safe icc_ap1r0_el1 = "icc_ap1r0_el1";
    /// System register enable at EL1.
    rw icc_sre_el1 = "icc_sre_el1";
    /// System register enable at EL2 and for EL1.
    rw icc_sre_el2 = "icc_sre_el2";
    /// Hypervisor control of the virtual CPU interface.
    safe ich_hcr_el2 = "ich_hcr_el2";
    /// Kind of virtual CPU interface: list registers, priority bits.
    ro ich_vtr_el2 = "ich_vtr_el2";
    /// Maintenance interrupt status.
    ro ich_misr_el2 = "ich_misr_el2";
    /// Empty list registers.
    ro ich_elrsr_el2 = "ich_elrsr_el2";
    /// Virtual machine control.
    safe ich_vmcr_el2 = "ich_vmcr_el2";
    /// Active virtual priorities of Group 0.
    safe ich_ap0r0_el2 = "ich_ap0r0_el2";
    /// Active virtual priorities of Group 1.
    safe ich_ap1r0_el2 = "ich_ap1r0_el2";
}

/// List registers (GIC specification, 12.4.7).
pub mod ich_lr {
    macro_rules! by_index {
        ($($index:literal $encoding:literal),*) => {
            /// Reads list register `index`; beyond the sixteenth reads as zero.
            #[inline(always)]
            #[must_use]
            pub fn read(index: usize) -> u64 {
                match index {
                    $($index => $crate::read_register!($encoding),)*
                    _ => 0,
                }
            }
            /// Writes list register `index`; beyond the sixteenth does nothing.
            #[inline(always)]
            pub fn write(index: usize, value: u64) {
                match index {
                    $($index => $crate::write_register!($encoding, value),)*
                    _ => {}
                }
            }
        };
    }
    by_index!(
        0 "ich_lr0_el2", 1 "ich_lr1_el2", 2 "ich_lr2_el2", 3 "ich_lr3_el2",
        4 "ich_lr4_el2", 5 "ich_lr5_el2", 6 "ich_lr6_el2", 7 "ich_lr7_el2",
        8 "ich_lr8_el2", 9 "ich_lr9_el2", 10 "ich_lr10_el2", 11 "ich_lr11_el2",
        12 "ich_lr12_el2", 13 "ich_lr13_el2", 14 "ich_lr14_el2", 15 "ich_lr15_el2"
    );
}
