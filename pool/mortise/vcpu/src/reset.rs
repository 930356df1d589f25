//! Reset state of a vCPU, and invalidation of translations.

use crate::{
    context::{RAS, SME, has_pointer_auth},
    traps,
};
use hw_arch::{
    El2, ExceptionLevel, read_register,
    registers::{tpidr2_el0, vdisr_el2},
    with_key_registers, write_key_register, write_register,
};

/// `SCTLR_EL1` with MMU and caches off: the RES1 bits only.
const SCTLR_RESET: u64 = 0x30d0_0800;

/// EL1 with SP_EL1, all of DAIF masked.
const SPSR_RESET: u64 = 0x3c5;

/// Resets EL1 on this core to the state in which PSCI starts a core (DEN 0022, 6.4): EL1, MMU off,
/// interrupts masked, all registers of the previous guest cleared. `entry` is the IPA of the first
/// instruction. The traps must be set, as they give EL2 access to the floating-point registers.
///
/// Resumable, in parts from 0; returns whether more parts follow.
///
/// # Safety
///
/// The previous register state of EL1 on this core must be dead.
pub unsafe fn reset(entry: u64, part: usize) -> bool {
    match part {
        0 => reset_registers(),
        // Both trap on a shared core, where Mortise may use the performance monitor.
        1 if traps::traps_pmu_and_debug() => {}
        1 => {
            reset_monitor();
            reset_debug();
        }
        _ => {
            reset_floating_point();
            // SAFETY: these take effect at the next return to the guest.
            unsafe {
                El2::write_elr(entry);
                El2::write_spsr(SPSR_RESET);
            }
            invalidate_translations();
        }
    }
    part < 2
}

/// Zeroes registers by name.
macro_rules! zero {
    ($($name:literal)*) => { $(write_register!($name, 0);)* };
}

/// Zeroes pointer authentication keys by name.
macro_rules! zero_keys {
    ($($name:literal)*) => { $(write_key_register!($name, 0);)* };
}

fn reset_registers() {
    write_register!("sctlr_el1", SCTLR_RESET);
    // All registers that a previous guest could have set: translation, exceptions, identification,
    // timers, debug, pointer authentication, performance monitor.
    zero!("cpacr_el1" "ttbr0_el1" "ttbr1_el1" "tcr_el1" "mair_el1" "amair_el1" "vbar_el1"
        "contextidr_el1" "tpidr_el0" "tpidrro_el0" "tpidr_el1" "elr_el1" "spsr_el1" "esr_el1"
        "far_el1" "afsr0_el1" "afsr1_el1" "par_el1" "csselr_el1" "sp_el0" "sp_el1"
        "cntkctl_el1" "cntv_ctl_el0" "cntv_cval_el0" "cntp_ctl_el0" "mdscr_el1");
    if has_pointer_auth() {
        with_key_registers!(zero_keys);
    }
    if read_register!("id_aa64pfr0_el1") & RAS != 0 {
        vdisr_el2::write(0);
    }
    if read_register!("id_aa64pfr1_el1") & SME != 0 {
        tpidr2_el0::write(0);
    }
}

/// Invalidates, on all cores, the cached stage 1 and stage 2 translations of the VM with the stage 2
/// active on this core, and the instruction cache of this core.
pub fn invalidate_translations() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: invalidation of cached translations and instructions does not change memory.
    unsafe {
        core::arch::asm!(
            "dsb ish",
            hw_arch::broadcast_tlbi!("vmalls12e1is"),
            "ic iallu",
            "dsb ish",
            "isb",
            options(nostack, preserves_flags)
        );
    }
}

/// Invalidates like [`invalidate_translations`], for the VM with this value of `VTTBR_EL2`.
pub fn invalidate_translations_of(vttbr: u64) {
    let own = hw_arch::registers::vttbr_el2::read();
    // SAFETY: EL1 neither executes nor is walked for while its stage 2 is exchanged: this is EL2 with
    // every interrupt masked, and the barriers order the register writes.
    unsafe {
        hw_arch::registers::vttbr_el2::write(vttbr);
        hw_arch::barrier::isb();
        invalidate_translations();
        hw_arch::registers::vttbr_el2::write(own);
    }
    hw_arch::barrier::isb();
}

/// Disables the performance monitor and clears its counters and event selection.
fn reset_monitor() {
    // P and C: every counter is zero. Enable is zero too.
    write_register!("pmcr_el0", 0b110);
    write_register!("pmcntenclr_el0", 0xffff_ffff);
    write_register!("pmintenclr_el1", 0xffff_ffff);
    write_register!("pmovsclr_el0", 0xffff_ffff);
    write_register!("pmuserenr_el0", 0);
    let counters = read_register!("pmcr_el0") >> 11 & 0x1f;
    // 31 selects the filter of the cycle counter.
    for counter in (0..counters).chain([31]) {
        write_register!("pmselr_el0", counter);
        hw_arch::barrier::isb();
        write_register!("pmxevtyper_el0", 0);
    }
    write_register!("pmselr_el0", 0);
}

/// Disables all breakpoints and watchpoints, and unlocks the OS lock, which is set after a reset and
/// inhibits debug exceptions of EL1 (Arm ARM, D2.3, H6.1).
fn reset_debug() {
    write_register!("oslar_el1", 0);
    let features = read_register!("id_aa64dfr0_el1");
    // Each field is the number minus one.
    let (breakpoints, watchpoints) = ((features >> 12 & 15) + 1, (features >> 20 & 15) + 1);
    macro_rules! end {
        ($($number:literal)*) => { $(
            if $number < breakpoints {
                write_register!(concat!("dbgbcr", $number, "_el1"), 0);
            }
            if $number < watchpoints {
                write_register!(concat!("dbgwcr", $number, "_el1"), 0);
            }
        )* };
    }
    end!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

/// Zeroes vector registers by number, and the control registers of floating point.
#[cfg(target_arch = "aarch64")]
macro_rules! zero_vectors {
    ($($number:literal)*) => {
        // SAFETY: code compiled for this target (softfloat) does not use these registers.
        unsafe {
            core::arch::asm!(
                ".arch_extension fp",
                ".arch_extension simd",
                $(concat!("movi v", $number, ".2d, #0"),)*
                "msr fpcr, xzr",
                "msr fpsr, xzr",
                options(nostack, preserves_flags)
            )
        }
    };
}

/// Clears the floating-point and SIMD registers, which Mortise does not use.
fn reset_floating_point() {
    #[cfg(target_arch = "aarch64")]
    zero_vectors!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}
