//! Context switch, with and without floating point registers.
//!
//! A call may change all registers but x19 to x30 and the lower halves of v8 to v15 (AAPCS64, 6.1),
//! so a thread that calls [`switch`] has no other registers to save; FPCR and FPSR belong to a
//! thread as well (C17, 7.6). The exception vector saves what an interrupt must preserve beyond
//! that.
//!
//! Where threads can disable floating point, the lowest bit of a context's address marks such a
//! thread, as a context is aligned. The switch then saves and restores only the registers that the
//! thread has, and sets CPACR_EL1 for the next thread.

use crate::options;
use core::arch::naked_asm;

/// Saves (`stp`) or restores (`ldp`) x21 to x30 in a context at the stack pointer.
macro_rules! integers {
    ($move:literal) => {
        concat!(
            $move,
            " x21, x22, [sp, #16]\n",
            $move,
            " x23, x24, [sp, #32]\n",
            $move,
            " x25, x26, [sp, #48]\n",
            $move,
            " x27, x28, [sp, #64]\n",
            $move,
            " x29, x30, [sp, #80]",
        )
    };
}

/// Saves or restores d8 to d15 in a context at the stack pointer.
macro_rules! floats {
    ($move:literal) => {
        concat!(
            $move,
            " d8, d9, [sp, #96]\n",
            $move,
            " d10, d11, [sp, #112]\n",
            $move,
            " d12, d13, [sp, #128]\n",
            $move,
            " d14, d15, [sp, #144]",
        )
    };
}

/// Saves the caller's context, stores its address in `previous` and restores the context `next`.
/// Returns when another switch restores the caller's context.
///
/// # Safety
///
/// Interrupts are masked. `previous` is the field that holds the calling thread's context address,
/// and `next` is a context that `switch` or `context::write_first` wrote for a thread that does not
/// run.
#[inline(always)]
pub unsafe fn switch(previous: *mut usize, next: usize) {
    if options::fp_choice() {
        // SAFETY: interrupts are masked, and both contexts have the layout of this option.
        unsafe { switch_selective(previous, next) }
    } else if options::fp() {
        // SAFETY: interrupts are masked, and both contexts have the layout of this option.
        unsafe { switch_with_fp(previous, next) }
    } else {
        // SAFETY: interrupts are masked, and both contexts have the layout of this option.
        unsafe { switch_integers(previous, next) }
    }
}

/// [`switch`] in an image without floating point.
#[unsafe(naked)]
unsafe extern "C" fn switch_integers(previous: *mut usize, next: usize) {
    naked_asm!(
        "stp x19, x20, [sp, #-96]!",
        integers!("stp"),
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        integers!("ldp"),
        "ldp x19, x20, [sp], #96",
        "ret",
    )
}

/// [`switch`] in an image with floating point.
#[unsafe(naked)]
unsafe extern "C" fn switch_with_fp(previous: *mut usize, next: usize) {
    naked_asm!(
        ".arch_extension fp",
        "mrs x9, fpcr",
        "mrs x10, fpsr",
        "stp x19, x20, [sp, #-176]!",
        integers!("stp"),
        floats!("stp"),
        "stp x9, x10, [sp, #160]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "ldp x9, x10, [sp, #160]",
        floats!("ldp"),
        integers!("ldp"),
        "ldp x19, x20, [sp], #176",
        "msr fpcr, x9",
        "msr fpsr, x10",
        "ret",
    )
}

/// [`switch`] in an image with threads that can disable floating point. While a thread runs, only
/// the lowest bit of its `previous` field is meaningful.
#[unsafe(naked)]
unsafe extern "C" fn switch_selective(previous: *mut usize, next: usize) {
    naked_asm!(
        ".arch_extension fp",
        "ldr x9, [x0]",
        "stp x19, x20, [sp, #-176]!",
        integers!("stp"),
        "and x9, x9, #{fp_disabled}",
        "cbnz x9, 1f",
        "mrs x10, fpcr",
        "mrs x11, fpsr",
        floats!("stp"),
        "stp x10, x11, [sp, #160]",
        "1: mov x10, sp",
        "orr x10, x10, x9",
        "str x10, [x0]",
        "and x10, x1, #{fp_disabled}",
        "sub x1, x1, x10",
        "mov sp, x1",
        "cmp x9, x10",
        "b.eq 2f",
        // The threads differ: CPACR_EL1.FPEN for the next one.
        "mov x9, #3 << 20",
        "cmp x10, #0",
        "csel x9, x9, xzr, eq",
        "msr cpacr_el1, x9",
        "isb",
        "2: cbnz x10, 3f",
        "ldp x10, x11, [sp, #160]",
        floats!("ldp"),
        "msr fpcr, x10",
        "msr fpsr, x11",
        "3:",
        integers!("ldp"),
        "ldp x19, x20, [sp], #176",
        "ret",
        fp_disabled = const crate::context::FP_DISABLED,
    )
}

/// Leaves the boot stack, which becomes the interrupt stack, and starts the first thread.
///
/// # Safety
///
/// Interrupts are masked; `next` is a first context that `context::write_first` wrote. No data on
/// the boot stack is used afterwards, and `interrupt_stack` is its end.
#[inline(always)]
pub unsafe fn enter(next: usize, interrupt_stack: usize) -> ! {
    // SAFETY: a first context ends where the stack of its thread begins, so the third argument is
    // the thread's stack pointer; the boot stack is unused from here on.
    unsafe { enter_below(next, interrupt_stack, next + crate::context::size()) }
}

#[unsafe(naked)]
unsafe extern "C" fn enter_below(next: usize, interrupt_stack: usize, stack: usize) -> ! {
    naked_asm!(
        "mov sp, x1",
        "msr spsel, #0",
        "mov sp, x2",
        "ldp x29, x30, [x0, #80]",
        "ldp x19, x20, [x0]",
        "ret",
    )
}

/// First instructions of a thread: `context::write_first` wrote the registers.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn begin() -> ! {
    naked_asm!("mov x0, x20", "mov x30, xzr", "msr daifclr, #2", "br x19",)
}
