//! System registers that are not banked by exception level.
//!
//! Each is a module with `read` and `write`, named as in the Arm ARM (D19) or
//! in the GIC specification (IHI 0069, chapter 12). Reading is always harmless;
//! writing is unsafe wherever it can change what code or memory means.

/// Reads a system register by the name or encoding the assembler knows.
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

/// Writes a system register by the name or encoding the assembler knows.
///
/// # Safety
///
/// Expands to an `unsafe` block of its own: use it only where any value is
/// harmless, or inside an `unsafe fn` that passes the obligation on.
#[macro_export]
macro_rules! write_register {
    ($name:expr, $value:expr) => {{
        let value: u64 = $value;
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the obligation is the macro user's, as stated there.
        unsafe {
            core::arch::asm!(concat!("msr ", $name, ", {}"), in(reg) value, options(nostack, preserves_flags));
        }
        #[cfg(not(target_arch = "aarch64"))]
        let _ = value;
    }};
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
    /// Exception level the core is in, bits 3:2.
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
    /// Which of the first 32 common events this core counts.
    ro pmceid0_el0 = "pmceid0_el0";
    /// What the first event counter counts, and at which exception levels.
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
    /// Intermediate physical address of a stage 2 fault.
    ro hpfar_el2 = "hpfar_el2";
    /// Physical address, or fault, of the last address translation instruction.
    ro par_el1 = "par_el1";

    /// Highest priority Group 0 interrupt, acknowledged by reading.
    ro icc_iar0_el1 = "S3_0_C12_C8_0";
    /// End of a Group 0 interrupt.
    wo icc_eoir0_el1 = "S3_0_C12_C8_1";
    /// Highest priority Group 1 interrupt, acknowledged by reading.
    ro icc_iar1_el1 = "S3_0_C12_C12_0";
    /// End (or priority drop) of a Group 1 interrupt.
    wo icc_eoir1_el1 = "S3_0_C12_C12_1";
    /// Deactivation of an interrupt.
    wo icc_dir_el1 = "S3_0_C12_C11_1";
    /// Group 1 software-generated interrupt.
    wo icc_sgi1r_el1 = "S3_0_C12_C11_5";
    /// Group 0 software-generated interrupt.
    wo icc_sgi0r_el1 = "S3_0_C12_C11_7";
    /// Priority mask.
    safe icc_pmr_el1 = "S3_0_C4_C6_0";
    /// CPU interface control.
    safe icc_ctlr_el1 = "S3_0_C12_C12_4";
    /// Group 0 enable.
    safe icc_igrpen0_el1 = "S3_0_C12_C12_6";
    /// Group 1 enable.
    safe icc_igrpen1_el1 = "S3_0_C12_C12_7";
    /// Binary point of Group 1.
    safe icc_bpr1_el1 = "S3_0_C12_C12_3";
    /// Active priorities of Group 0.
    safe icc_ap0r0_el1 = "S3_0_C12_C8_4";
    /// Active priorities of Group 1.
    safe icc_ap1r0_el1 = "S3_0_C12_C9_0";
    /// System register enable at EL1.
    rw icc_sre_el1 = "S3_0_C12_C12_5";
    /// System register enable at EL2 and for EL1.
    rw icc_sre_el2 = "S3_4_C12_C9_5";
    /// Hypervisor control of the virtual CPU interface.
    safe ich_hcr_el2 = "S3_4_C12_C11_0";
    /// Kind of virtual CPU interface: list registers, priority bits.
    ro ich_vtr_el2 = "S3_4_C12_C11_1";
    /// Maintenance interrupt status.
    ro ich_misr_el2 = "S3_4_C12_C11_2";
    /// Empty list registers.
    ro ich_elrsr_el2 = "S3_4_C12_C11_5";
    /// Virtual machine control.
    safe ich_vmcr_el2 = "S3_4_C12_C11_7";
    /// Active virtual priorities of Group 0.
    safe ich_ap0r0_el2 = "S3_4_C12_C8_0";
    /// Active virtual priorities of Group 1.
    safe ich_ap1r0_el2 = "S3_4_C12_C9_0";
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
        0 "S3_4_C12_C12_0", 1 "S3_4_C12_C12_1", 2 "S3_4_C12_C12_2", 3 "S3_4_C12_C12_3",
        4 "S3_4_C12_C12_4", 5 "S3_4_C12_C12_5", 6 "S3_4_C12_C12_6", 7 "S3_4_C12_C12_7",
        8 "S3_4_C12_C13_0", 9 "S3_4_C12_C13_1", 10 "S3_4_C12_C13_2", 11 "S3_4_C12_C13_3",
        12 "S3_4_C12_C13_4", 13 "S3_4_C12_C13_5", 14 "S3_4_C12_C13_6", 15 "S3_4_C12_C13_7"
    );
}
