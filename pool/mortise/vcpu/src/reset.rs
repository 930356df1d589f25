//! The state in which a virtual CPU starts.

use crate::{context::has_pointer_auth, traps};
use hw_arch::{El2, ExceptionLevel, read_register, write_register};

/// `SCTLR_EL1` with MMU and caches off: the RES1 bits only.
const SCTLR_RESET: u64 = 0x30d0_0800;

/// EL1 with SP_EL1, all of DAIF masked.
const SPSR_RESET: u64 = 0x3c5;

/// Takes this core's EL1 to what PSCI promises a core that is turned on (DEN
/// 0022, 6.4): EL1, MMU off, interrupts masked, nothing left of what ran before.
/// `entry` is the address of its first instruction, in the guest's physical
/// space. The traps must be set: they let EL2 reach the floating-point registers.
/// Part by part, from 0; whether there are more.
///
/// # Safety
///
/// No guest may be in the middle of anything on this core that it is to resume.
pub unsafe fn reset(entry: u64, part: usize) -> bool {
    match part {
        0 => reset_registers(),
        // Who shares its core reaches neither, and Mortise may count there.
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

fn reset_registers() {
    write_register!("sctlr_el1", SCTLR_RESET);
    // Everything that EL1 could have set and would not expect set: translation,
    // exceptions, identity, timers, debug, pointer authentication, performance monitor.
    macro_rules! zero {
        ($($name:literal)*) => { $(write_register!($name, 0);)* };
    }
    zero!("cpacr_el1" "ttbr0_el1" "ttbr1_el1" "tcr_el1" "mair_el1" "amair_el1" "vbar_el1"
        "contextidr_el1" "tpidr_el0" "tpidrro_el0" "tpidr_el1" "elr_el1" "spsr_el1" "esr_el1"
        "far_el1" "afsr0_el1" "afsr1_el1" "par_el1" "csselr_el1" "sp_el0" "sp_el1"
        "cntkctl_el1" "cntv_ctl_el0" "cntv_cval_el0" "cntp_ctl_el0" "mdscr_el1");
    if has_pointer_auth() {
        zero!("S3_0_C2_C1_0" "S3_0_C2_C1_1" "S3_0_C2_C1_2" "S3_0_C2_C1_3" "S3_0_C2_C2_0"
            "S3_0_C2_C2_1" "S3_0_C2_C2_2" "S3_0_C2_C2_3" "S3_0_C2_C3_0" "S3_0_C2_C3_1");
    }
}

/// Drops what any core has cached of the tables of the virtual machine that this
/// core is in, both stages, and of instructions.
pub fn invalidate_translations() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: dropping cached translations and instructions changes no meaning.
    unsafe {
        core::arch::asm!(
            "dsb ish",
            "tlbi vmalls12e1is",
            "ic iallu",
            "dsb ish",
            "isb",
            options(nostack, preserves_flags)
        );
    }
}

/// The same for another virtual machine than the one that this core is in: the one whose
/// `VTTBR_EL2` this is.
pub fn invalidate_translations_of(vttbr: u64) {
    let own = hw_arch::registers::vttbr_el2::read();
    // SAFETY: nothing of EL1 executes or is walked for meanwhile: this is EL2, with every
    // interrupt masked, and the barriers keep accesses apart.
    unsafe {
        hw_arch::registers::vttbr_el2::write(vttbr);
        hw_arch::barrier::isb();
        invalidate_translations();
        hw_arch::registers::vttbr_el2::write(own);
    }
    hw_arch::barrier::isb();
}

/// Stops the performance monitor and forgets what it counted, and what.
fn reset_monitor() {
    // P and C: every counter is zero. Enable is zero too.
    write_register!("pmcr_el0", 0b110);
    write_register!("pmcntenclr_el0", 0xffff_ffff);
    write_register!("pmintenclr_el1", 0xffff_ffff);
    write_register!("pmovsclr_el0", 0xffff_ffff);
    write_register!("pmuserenr_el0", 0);
    let counters = read_register!("pmcr_el0") >> 11 & 0x1f;
    // The last one is the cycle counter's filter.
    for counter in (0..counters).chain([31]) {
        write_register!("pmselr_el0", counter);
        hw_arch::barrier::isb();
        write_register!("pmxevtyper_el0", 0);
    }
    write_register!("pmselr_el0", 0);
}

/// Ends all breakpoints and watchpoints, and the OS lock, which a core comes out of its reset with and
/// under which EL1 has no debug exceptions (Arm ARM, D2.3, H6.1).
fn reset_debug() {
    write_register!("oslar_el1", 0);
    let features = read_register!("id_aa64dfr0_el1");
    // Each field is one less than there are, of which there is one at least.
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

/// Zeroes the floating-point and SIMD registers, which Mortise itself never uses.
fn reset_floating_point() {
    #[cfg(target_arch = "aarch64")]
    macro_rules! zero_vectors {
        ($($number:literal)*) => {
            // SAFETY: no Rust code of this target keeps anything there.
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
    #[cfg(target_arch = "aarch64")]
    zero_vectors!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}
