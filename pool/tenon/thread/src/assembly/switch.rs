//! The context switch, with and without the registers of floating point.
//!
//! A call may change all but x19 to x30 and the lower halves of v8 to v15 (AAPCS64, 6.1), so a
//! thread that waits by calling has nothing else to keep; FPCR and FPSR belong to a thread as well
//! (C17, 7.6). What an interrupt must keep beyond that, its vector has saved.
//!
//! Where threads may forgo floating point, the lowest bit of a context's address says whether this
//! one has, as a context is aligned: the switch saves and restores what there is, and CPACR_EL1 lets
//! floating point through or traps it as the next thread wants.

use crate::options;
use core::arch::naked_asm;

/// Waits here until somebody switches back: saves the caller's context, notes its stack pointer at
/// `previous`, and goes on in the context `next`.
///
/// # Safety
///
/// Interrupts are masked; `previous` is the place of the caller's own stack pointer, and `next` is
/// what `switch` or `lay_first_context` left of a thread that is not running.
#[inline(always)]
pub unsafe fn switch(previous: *mut usize, next: usize) {
    if options::fp_choice() {
        // SAFETY: the caller's contract.
        unsafe { switch_by_kind(previous, next) }
    } else if options::fp() {
        // SAFETY: the caller's contract.
        unsafe { switch_with_floats(previous, next) }
    } else {
        // SAFETY: the caller's contract.
        unsafe { switch_integers(previous, next) }
    }
}

/// [`switch`] in an image without floating point.
#[unsafe(naked)]
unsafe extern "C" fn switch_integers(previous: *mut usize, next: usize) {
    naked_asm!(
        "stp x19, x20, [sp, #-96]!",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp x19, x20, [sp], #96",
        "ret",
    )
}

/// [`switch`] in an image with floating point.
#[unsafe(naked)]
unsafe extern "C" fn switch_with_floats(previous: *mut usize, next: usize) {
    naked_asm!(
        ".arch_extension fp",
        "mrs x9, fpcr",
        "mrs x10, fpsr",
        "stp x19, x20, [sp, #-176]!",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "stp x9, x10, [sp, #160]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "ldp x9, x10, [sp, #160]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp x19, x20, [sp], #176",
        "msr fpcr, x9",
        "msr fpsr, x10",
        "ret",
    )
}

/// [`switch`] in an image whose threads may forgo floating point. What `previous` holds while its
/// thread runs is of use for its lowest bit alone.
#[unsafe(naked)]
unsafe extern "C" fn switch_by_kind(previous: *mut usize, next: usize) {
    naked_asm!(
        ".arch_extension fp",
        "ldr x9, [x0]",
        "stp x19, x20, [sp, #-176]!",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        "and x9, x9, #{forgone}",
        "cbnz x9, 1f",
        "mrs x10, fpcr",
        "mrs x11, fpsr",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "stp x10, x11, [sp, #160]",
        "1: mov x10, sp",
        "orr x10, x10, x9",
        "str x10, [x0]",
        "and x10, x1, #{forgone}",
        "sub x1, x1, x10",
        "mov sp, x1",
        "cmp x9, x10",
        "b.eq 2f",
        // CPACR_EL1.FPEN, as the other kind of thread wants it.
        "mov x9, #3 << 20",
        "cmp x10, #0",
        "csel x9, x9, xzr, eq",
        "msr cpacr_el1, x9",
        "isb",
        "2: cbnz x10, 3f",
        "ldp x10, x11, [sp, #160]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "msr fpcr, x10",
        "msr fpsr, x11",
        "3: ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp x19, x20, [sp], #176",
        "ret",
        forgone = const super::FP_DISABLED,
    )
}

/// Leaves the boot stack, which is the interrupt stack from here on, for the first thread.
///
/// # Safety
///
/// As for [`switch`]; nothing on the boot stack is used any more, and `interrupt_stack` is its end.
#[inline(always)]
pub unsafe fn enter(next: usize, interrupt_stack: usize) -> ! {
    // SAFETY: the caller's contract; the context ends where the thread's own stack begins.
    unsafe { enter_below(next, interrupt_stack, next + super::context_size()) }
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

/// Where a thread begins: `lay_first_context` is what it finds in its registers.
#[unsafe(naked)]
pub unsafe extern "C" fn begin() -> ! {
    naked_asm!("mov x0, x20", "mov x30, xzr", "msr daifclr, #2", "br x19",)
}
