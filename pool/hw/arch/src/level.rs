//! Exception levels as types.

use crate::{read_register, write_register};

mod sealed {
    /// Keeps [`super::ExceptionLevel`] to the two levels that exist.
    pub trait Sealed {}
    impl Sealed for super::El1 {}
    impl Sealed for super::El2 {}
}

/// Kernel level of an ordinary operating system (Tenon).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum El1 {}

/// Hypervisor level (Mortise).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum El2 {}

/// Writes the trait and both assembly forms from one list of banked registers:
/// name, accessors, then the register at EL1 and at EL2.
macro_rules! banked {
    ($($(#[$doc:meta])* $read:ident, $write:ident: $at1:literal, $at2:literal;)*) => {
        /// The exception level a kernel runs at.
        ///
        /// Registers that exist once per level are reached through it. The
        /// timer is the virtual one (CNTV) at EL1 and the hypervisor's own
        /// (CNTHP) at EL2, so that neither kernel disturbs the other.
        pub trait ExceptionLevel: sealed::Sealed + Copy + core::fmt::Debug + 'static {
            /// Number of the level, as in `CurrentEL`.
            const LEVEL: u8;

            $(
                $(#[$doc])*
                #[must_use]
                fn $read() -> u64;
                /// Writes the register of the same name.
                ///
                /// # Safety
                ///
                /// The value must keep the running kernel's code, data, vectors
                /// and translation valid (Arm ARM, D19).
                unsafe fn $write(value: u64);
            )*

            /// Counter that this level's timer compares with.
            #[must_use]
            fn read_counter() -> u64;

            /// Drops every translation of this level's own regime on this core.
            fn invalidate_tlb();
        }

        impl ExceptionLevel for El1 {
            const LEVEL: u8 = 1;
            $(
                #[inline(always)]
                fn $read() -> u64 { read_register!($at1) }
                #[inline(always)]
                unsafe fn $write(value: u64) { write_register!($at1, value) }
            )*
            #[inline(always)]
            fn read_counter() -> u64 { read_register!("cntvct_el0") }
            #[inline(always)]
            fn invalidate_tlb() { invalidate!("tlbi vmalle1"); }
        }

        impl ExceptionLevel for El2 {
            const LEVEL: u8 = 2;
            $(
                #[inline(always)]
                fn $read() -> u64 { read_register!($at2) }
                #[inline(always)]
                unsafe fn $write(value: u64) { write_register!($at2, value) }
            )*
            #[inline(always)]
            fn read_counter() -> u64 { read_register!("cntpct_el0") }
            #[inline(always)]
            fn invalidate_tlb() { invalidate!("tlbi alle2"); }
        }
    };
}

/// Invalidation between the barriers it needs (Arm ARM, D8.17.5).
macro_rules! invalidate {
    ($instruction:literal) => {{
        #[cfg(target_arch = "aarch64")]
        // SAFETY: dropping cached translations changes no mapping.
        unsafe {
            core::arch::asm!(
                "dsb nshst",
                $instruction,
                "dsb nsh",
                "isb",
                options(nostack, preserves_flags)
            );
        }
    }};
}

banked! {
    /// Syndrome of the last exception.
    read_esr, write_esr: "esr_el1", "esr_el2";
    /// Faulting virtual address.
    read_far, write_far: "far_el1", "far_el2";
    /// Return address of the last exception.
    read_elr, write_elr: "elr_el1", "elr_el2";
    /// Processor state saved by the last exception.
    read_spsr, write_spsr: "spsr_el1", "spsr_el2";
    /// Base of the exception vectors.
    read_vbar, write_vbar: "vbar_el1", "vbar_el2";
    /// This core's pointer to its per-core data.
    read_tpidr, write_tpidr: "tpidr_el1", "tpidr_el2";
    /// System control.
    read_sctlr, write_sctlr: "sctlr_el1", "sctlr_el2";
    /// Translation control.
    read_tcr, write_tcr: "tcr_el1", "tcr_el2";
    /// Root of the translation table.
    read_ttbr0, write_ttbr0: "ttbr0_el1", "ttbr0_el2";
    /// Memory attributes.
    read_mair, write_mair: "mair_el1", "mair_el2";
    /// Control of this level's timer.
    read_timer_ctl, write_timer_ctl: "cntv_ctl_el0", "cnthp_ctl_el2";
    /// Compare value of this level's timer.
    read_timer_cval, write_timer_cval: "cntv_cval_el0", "cnthp_cval_el2";
}
