//! Exception vector tables.
//!
//! One assembler macro writes a table for each combination of options, each in a section of its
//! own. [`vectors`] names the table of this image, and the linker drops the others.
//!
//! | option | effect on the table |
//! |---|---|
//! | GIC version | a GICv3 is acknowledged and ended by system registers, a GICv2 by loads and stores; the value that a GICv2 returns also contains the sender of an SGI |
//! | floating point | where handlers may use it, all registers are saved: of v8 to v15 a callee preserves the lower halves only (AAPCS64, 6.1.2), and writing those clears the upper ones. Where only threads use it, the registers of a preempted thread are saved |
//! | EL0 | exceptions from EL0 store the registers in the context of `tenon-user`, to which SP_EL1 points while EL0 runs |
//! | nesting | ELR and SPSR are saved, as a nested interrupt overwrites them, and an interrupt of a handler is served on the interrupt stack; the caller of the handler, [`crate::interrupt`], unmasks interrupts |

use core::arch::global_asm;
use tenon_machine::options;

/// Bytes that an interrupt pushes on the thread's stack: x0 to x18, x30, ELR and SPSR.
const FRAME: usize = 22 * 8;

/// The same with FPCR and FPSR; v0 to v31 lie above them.
const FLOAT_FRAME: usize = FRAME + 2 * 8;

/// The code of an image that may use floating point.
enum FpUse {
    None,
    InThreads,
    Everywhere,
}

#[inline(always)]
fn fp_use() -> FpUse {
    match (options::fp(), options::fp_handlers()) {
        (false, _) => FpUse::None,
        (true, false) => FpUse::InThreads,
        (true, true) => FpUse::Everywhere,
    }
}

/// Declares the tables and the function that selects the one of an image.
macro_rules! tables {
    ($($name:ident = $symbol:literal: ($gicv2:literal, $fp:pat, $nesting:literal, $user:literal);)*) => {
        unsafe extern "C" {
            $(#[link_name = $symbol] static $name: u8;)*
        }

        /// The address of the vector table for a machine with a GICv2, or with a GICv3.
        pub(crate) fn vectors(gicv2: bool) -> usize {
            match (gicv2, fp_use(), options::nesting(), options::user()) {
                $(($gicv2, $fp, $nesting, $user) => &raw const $name as usize,)*
                // Kconfig excludes these with threads at EL0.
                (_, _, _, true) => unreachable!(),
            }
        }
    };
}

tables! {
    V3 = "tenon_vectors.v3": (false, FpUse::None, false, false);
    V3_USER = "tenon_vectors.v3.user": (false, FpUse::None, false, true);
    V3_NESTED = "tenon_vectors.v3.nested": (false, FpUse::None, true, false);
    V3_FP = "tenon_vectors.v3.fp": (false, FpUse::Everywhere, false, false);
    V3_FP_NESTED = "tenon_vectors.v3.fp.nested": (false, FpUse::Everywhere, true, false);
    V3_THREADS = "tenon_vectors.v3.threads": (false, FpUse::InThreads, false, false);
    V3_THREADS_NESTED = "tenon_vectors.v3.threads.nested": (false, FpUse::InThreads, true, false);
    V2 = "tenon_vectors.v2": (true, FpUse::None, false, false);
    V2_USER = "tenon_vectors.v2.user": (true, FpUse::None, false, true);
    V2_NESTED = "tenon_vectors.v2.nested": (true, FpUse::None, true, false);
    V2_FP = "tenon_vectors.v2.fp": (true, FpUse::Everywhere, false, false);
    V2_FP_NESTED = "tenon_vectors.v2.fp.nested": (true, FpUse::Everywhere, true, false);
    V2_THREADS = "tenon_vectors.v2.threads": (true, FpUse::InThreads, false, false);
    V2_THREADS_NESTED = "tenon_vectors.v2.threads.nested": (true, FpUse::InThreads, true, false);
}

global_asm!(
    // v2 to v31 in pairs. v0 and v1 are stored first and loaded last, with the change of the stack
    // pointer.
    ".macro tenon_floats operation",
    "    \\operation q2, q3, [sp, #32]",
    "    \\operation q4, q5, [sp, #64]",
    "    \\operation q6, q7, [sp, #96]",
    "    \\operation q8, q9, [sp, #128]",
    "    \\operation q10, q11, [sp, #160]",
    "    \\operation q12, q13, [sp, #192]",
    "    \\operation q14, q15, [sp, #224]",
    "    \\operation q16, q17, [sp, #256]",
    "    \\operation q18, q19, [sp, #288]",
    "    \\operation q20, q21, [sp, #320]",
    "    \\operation q22, q23, [sp, #352]",
    "    \\operation q24, q25, [sp, #384]",
    "    \\operation q26, q27, [sp, #416]",
    "    \\operation q28, q29, [sp, #448]",
    "    \\operation q30, q31, [sp, #480]",
    ".endm",
    // `fp`: 0 is no code, 1 is handlers and threads, 2 is threads only.
    //
    // Saves the caller-saved registers on the selected stack.
    ".macro tenon_save fp, nested, frame",
    ".if \\fp == 1",
    "    stp q0, q1, [sp, #-512]!",
    "    tenon_floats stp",
    ".endif",
    "    stp x0, x1, [sp, #-\\frame]!",
    "    stp x2, x3, [sp, #16]",
    "    stp x4, x5, [sp, #32]",
    "    stp x6, x7, [sp, #48]",
    "    stp x8, x9, [sp, #64]",
    "    stp x10, x11, [sp, #80]",
    "    stp x12, x13, [sp, #96]",
    "    stp x14, x15, [sp, #112]",
    "    stp x16, x17, [sp, #128]",
    "    stp x18, x30, [sp, #144]",
    ".if \\nested",
    "    tenon_save_return",
    ".endif",
    ".if \\fp == 1",
    "    mrs x0, fpcr",
    "    mrs x1, fpsr",
    "    stp x0, x1, [sp, #176]",
    // Handlers run with the default FPCR: round to nearest, no traps.
    "    msr fpcr, xzr",
    ".endif",
    ".endm",
    ".macro tenon_save_return",
    "    mrs x0, elr_el1",
    "    mrs x1, spsr_el1",
    "    stp x0, x1, [sp, #160]",
    ".endm",
    ".macro tenon_restore fp, nested, frame",
    ".if \\nested",
    "    ldp x0, x1, [sp, #160]",
    "    msr elr_el1, x0",
    "    msr spsr_el1, x1",
    ".endif",
    ".if \\fp == 1",
    "    ldp x0, x1, [sp, #176]",
    "    msr fpcr, x0",
    "    msr fpsr, x1",
    ".endif",
    "    ldp x18, x30, [sp, #144]",
    "    ldp x2, x3, [sp, #16]",
    "    ldp x4, x5, [sp, #32]",
    "    ldp x6, x7, [sp, #48]",
    "    ldp x8, x9, [sp, #64]",
    "    ldp x10, x11, [sp, #80]",
    "    ldp x12, x13, [sp, #96]",
    "    ldp x14, x15, [sp, #112]",
    "    ldp x16, x17, [sp, #128]",
    "    ldp x0, x1, [sp], #\\frame",
    ".if \\fp == 1",
    "    tenon_floats ldp",
    "    ldp q0, q1, [sp], #512",
    ".endif",
    "    eret",
    ".endm",
    // Acknowledges the interrupt, calls its handler and ends it, on SP_EL1.
    ".macro tenon_serve chip, served",
    ".if \\chip == 3",
    "    mrs x0, icc_iar1_el1",
    "    mrs x1, tpidr_el1",
    "    ldp x2, x3, [x1, #{table}]",
    ".else",
    "    mrs x1, tpidr_el1",
    "    ldp x2, x3, [x1, #{table}]",
    "    ldr x4, [x1, #{interface}]",
    "    ldr w5, [x4, #{acknowledge}]",
    "    and w0, w5, #0x3ff",
    ".endif",
    "    cmp x0, x3",
    "    b.hs 2f",
    "    ldr x2, [x2, x0, lsl #3]",
    "    cbz x2, 2f",
    ".if \\chip == 3",
    "    str x0, [sp, #-16]!",
    ".else",
    "    stp x5, x4, [sp, #-16]!",
    ".endif",
    "    blr x2",
    ".ifnb \\served",
    ".global \\served",
    "\\served:",
    ".endif",
    ".if \\chip == 3",
    "    ldr x0, [sp], #16",
    "    msr icc_eoir1_el1, x0",
    "    b 3f",
    "2:",
    ".else",
    "    ldp x0, x1, [sp], #16",
    "    str w0, [x1, #{end}]",
    "    b 3f",
    "2:  mov x0, x5",
    ".endif",
    "    bl {refuse}",
    "    b 3f",
    ".endm",
    // Arm ARM, D1.4.2: sixteen vectors of 32 instructions. The first four serve exceptions from
    // SP_EL0 (threads), the next four those from SP_EL1 (handlers), the last eight those from EL0,
    // where code runs only in an image with threads there. A synchronous exception ends the image. FIQ and SError stay masked as the
    // entry code left them, and so do interrupts in handlers without nesting. The slots of
    // exceptions that cannot be taken hold other code. `.org` does not move backwards, so a vector
    // that is too long is an assembler error.
    ".macro tenon_fatal in_handler",
    "    mov x0, #\\in_handler",
    // The state of a handler's stack is unknown.
    ".if \\in_handler",
    "    adrp x1, {emergency}",
    "    add x1, x1, :lo12:{emergency}",
    "    add sp, x1, #{emergency_size}",
    ".endif",
    "    b {fatal}",
    ".endm",
    // Returns to the thread unless a more urgent one became ready. Without nesting, no code since
    // the exception entry changes ELR and SPSR, so they are saved for a preempted thread only.
    ".macro tenon_end suffix, fp, nested, frame",
    "3:  mrs x1, tpidr_el1",
    "    msr spsel, #0",
    "    ldr x0, [x1, #{candidate}]",
    "    cbnz x0, 4f",
    "    tenon_restore \\fp, \\nested, \\frame",
    ".global tenon_interrupt_end\\suffix",
    ".set tenon_interrupt_end\\suffix, . - 4",
    ".endm",
    ".macro tenon_preempt fp, nested, frame",
    "4:",
    ".ifeq \\nested",
    "    tenon_save_return",
    ".endif",
    ".if \\fp == 2",
    "    mrs x0, cpacr_el1", // FPEN: may this thread use floating point?
    "    tbz x0, #20, 7f",
    "    stp q0, q1, [sp, #-528]!",
    "    tenon_floats stp",
    "    mrs x0, fpcr",
    "    mrs x1, fpsr",
    "    str x0, [sp, #512]",
    "    str x1, [sp, #520]",
    "    bl {reschedule}",
    "    ldr x0, [sp, #512]",
    "    ldr x1, [sp, #520]",
    "    msr fpcr, x0",
    "    msr fpsr, x1",
    "    tenon_floats ldp",
    "    ldp q0, q1, [sp], #528",
    "    b 8f",
    "7:",
    ".endif",
    "    bl {reschedule}",
    "8:",
    "    tenon_restore \\fp, 1, \\frame",
    ".endm",
    // Stores the registers of EL0 in its context, x9 to x30 free then.
    ".macro tenon_user_save",
    "    stp x0, x1, [sp]",
    "    stp x2, x3, [sp, #16]",
    "    stp x4, x5, [sp, #32]",
    "    stp x6, x7, [sp, #48]",
    "    stp x8, x9, [sp, #64]",
    "    stp x10, x11, [sp, #80]",
    "    stp x12, x13, [sp, #96]",
    "    stp x14, x15, [sp, #112]",
    "    stp x16, x17, [sp, #128]",
    "    stp x18, x19, [sp, #144]",
    "    stp x20, x21, [sp, #160]",
    "    stp x22, x23, [sp, #176]",
    "    stp x24, x25, [sp, #192]",
    "    stp x26, x27, [sp, #208]",
    "    stp x28, x29, [sp, #224]",
    "    mrs x0, sp_el0",
    "    stp x30, x0, [sp, #240]",
    "    mrs x1, elr_el1",
    "    mrs x2, spsr_el1",
    "    stp x1, x2, [sp, #256]",
    ".endm",
    // The exceptions from EL0: a synchronous one returns to the caller of `user::enter`. An
    // interrupt is served here; then EL0 continues, unless the thread is to be looked at.
    ".macro tenon_user_vectors suffix, chip",
    "    .org tenon_vectors\\suffix + 0x80 * 8",
    "    tenon_user_save",
    "    mov x1, sp",
    "    mov x0, #0",
    "    b tenon_user_leave",
    "    .org tenon_vectors\\suffix + 0x80 * 9",
    "    tenon_user_save",
    "    mov x19, sp",
    "    ldr x9, [sp, #{kernel_stack}]",
    "    ldr x10, [sp, #{interrupt_stack}]",
    "    msr sp_el0, x9",
    "    mov sp, x10",
    "    b 5f",
    "    .org tenon_vectors\\suffix + 0x80 * 16",
    "5:",
    "    tenon_serve \\chip",
    "3:  mrs x1, tpidr_el1",
    "    msr spsel, #0",
    "    ldr x0, [x1, #{candidate}]",
    "    cbz x0, 6f",
    "    bl {reschedule}",
    "6:  ldr w0, [x19, #{attention}]",
    "    cbnz w0, 7f",
    "    mov x0, x19",
    "    b tenon_user_resume",
    "7:  mov x1, x19",
    "    mov x0, #1",
    "    b tenon_user_leave",
    ".endm",
    ".macro tenon_table suffix, chip, fp, nested, frame, user=0",
    ".section .text.vectors\\suffix, \"ax\"",
    ".balign 0x800",
    "tenon_vectors\\suffix:",
    "    tenon_fatal 0",
    "    .org tenon_vectors\\suffix + 0x80",
    ".global tenon_interrupt\\suffix",
    "tenon_interrupt\\suffix:",
    "    msr spsel, #0",
    // With floating point, the code exceeds the 32 instructions of a slot.
    ".if \\fp == 1",
    "    b 5f",
    ".else",
    "    tenon_save \\fp, \\nested, \\frame",
    "    msr spsel, #1",
    "    tenon_serve \\chip, tenon_interrupt_served\\suffix",
    ".endif",
    ".ifeq \\fp + \\nested",
    "    tenon_end \\suffix, 0, 0, \\frame",
    "    tenon_preempt 0, 0, \\frame",
    ".endif",
    "    .org tenon_vectors\\suffix + 0x80 * 4",
    "    tenon_fatal 1",
    ".if \\nested",
    "    .org tenon_vectors\\suffix + 0x80 * 5",
    "    b 6f",
    ".endif",
    ".if \\fp == 1",
    "5:",
    "    tenon_save \\fp, \\nested, \\frame",
    "    msr spsel, #1",
    "    tenon_serve \\chip, tenon_interrupt_served\\suffix",
    ".endif",
    ".if \\fp + \\nested",
    "    tenon_end \\suffix, \\fp, \\nested, \\frame",
    "    tenon_preempt \\fp, \\nested, \\frame",
    ".endif",
    ".if \\nested",
    // An interrupt of a handler: threads that it makes ready run at the end of the outermost
    // handler.
    "6:",
    "    tenon_save \\fp, 1, \\frame",
    "    tenon_serve \\chip",
    "3:  tenon_restore \\fp, 1, \\frame",
    ".endif",
    ".if \\user",
    "    tenon_user_vectors \\suffix, \\chip",
    ".endif",
    ".previous",
    ".endm",
    ".arch_extension fp",
    ".arch_extension simd",
    "tenon_table .v3, 3, 0, 0, {frame}",
    "tenon_table .v3.user, 3, 0, 0, {frame}, 1",
    "tenon_table .v3.nested, 3, 0, 1, {frame}",
    "tenon_table .v3.fp, 3, 1, 0, {float_frame}",
    "tenon_table .v3.fp.nested, 3, 1, 1, {float_frame}",
    "tenon_table .v3.threads, 3, 2, 0, {frame}",
    "tenon_table .v3.threads.nested, 3, 2, 1, {frame}",
    "tenon_table .v2, 2, 0, 0, {frame}",
    "tenon_table .v2.user, 2, 0, 0, {frame}, 1",
    "tenon_table .v2.nested, 2, 0, 1, {frame}",
    "tenon_table .v2.fp, 2, 1, 0, {float_frame}",
    "tenon_table .v2.fp.nested, 2, 1, 1, {float_frame}",
    "tenon_table .v2.threads, 2, 2, 0, {frame}",
    "tenon_table .v2.threads.nested, 2, 2, 1, {frame}",
    refuse = sym tenon_kernel::kernel::entry::unhandled_interrupt,
    table = const tenon_kernel::kernel::TABLE,
    interface = const tenon_kernel::kernel::INTERFACE,
    acknowledge = const hw_irqchip_gicv2::GICC_IAR,
    end = const hw_irqchip_gicv2::GICC_EOIR,
    candidate = const tenon_kernel::kernel::CANDIDATE,
    reschedule = sym tenon_kernel::kernel::entry::reschedule,
    fatal = sym super::fault::fatal,
    emergency = sym super::fault::EMERGENCY,
    emergency_size = const super::fault::EMERGENCY_SIZE,
    kernel_stack = const super::context::KERNEL_STACK,
    interrupt_stack = const super::context::INTERRUPT_STACK,
    attention = const super::context::ATTENTION,
    frame = const FRAME,
    float_frame = const FLOAT_FRAME,
);
