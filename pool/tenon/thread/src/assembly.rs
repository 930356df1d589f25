//! The few instructions Rust has no words for: vectors, context switch, interrupt mask.
//!
//! Threads run on SP_EL0 and exceptions on SP_EL1: the hardware itself changes to the interrupt
//! stack (Arm ARM, D1.2.2), and a thread that overflowed its stack can still be reported. An
//! interrupt saves the caller-saved registers on the stack of the thread it came to, where they are
//! in place if it preempts: the vector then calls the scheduler from there, in the thread's own
//! context, and from there on a preempted thread looks like one that called [`switch`] itself. All
//! waiting threads wait at one place, with twelve callee-saved registers on their stack. Costs are
//! listed in `docs/costs.md`.

/// Words on the stack of a thread that waits: x19 to x30.
pub const CONTEXT: usize = 12;

/// Bytes of a thread's stack that an interrupt takes: x0 to x18, x30, ELR and SPSR.
#[cfg(target_arch = "aarch64")]
const FRAME: usize = 22 * 8;

/// The context of a thread that has not run: it begins with `entry(argument)`, which must not
/// return, with interrupts on.
pub fn first_context(entry: usize, argument: usize) -> [usize; CONTEXT] {
    let mut context = [0; CONTEXT];
    context[0] = entry;
    context[1] = argument;
    context[CONTEXT - 1] = begin as *const () as usize;
    context
}

/// Masks interrupts and returns the former mask.
#[inline(always)]
pub fn mask() -> u64 {
    let mask = hw_arch::read_register!("daif");
    hw_arch::cpu::mask_interrupts();
    mask
}

/// Puts back a mask that [`mask`] returned.
///
/// # Safety
///
/// What the mask protected must be consistent again.
#[inline(always)]
pub unsafe fn unmask(mask: u64) {
    hw_arch::write_register!("daif", mask);
}

/// Whether interrupts were masked when [`mask`] returned this: the caller is in a handler.
#[inline(always)]
pub fn is_masked(mask: u64) -> bool {
    /// PSTATE.I as DAIF shows it.
    const I: u64 = 1 << 7;
    mask & I != 0
}

/// Touches an address that no VM has: Mortise takes it as this VM's fault and acts on it.
pub fn fault() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: Mortise maps nothing there, so nothing is written.
    unsafe {
        core::arch::asm!("str xzr, [{}]", in(reg) 0usize, options(nostack, preserves_flags));
    }
}

#[cfg(target_arch = "aarch64")]
pub use real::{begin, enter, switch, vectors};

#[cfg(target_arch = "aarch64")]
mod real {
    use super::FRAME;
    use core::arch::{global_asm, naked_asm};

    /// Waits here until somebody switches back: saves the caller's context, notes its stack
    /// pointer at `previous`, and goes on in the context `next`.
    ///
    /// # Safety
    ///
    /// Interrupts are masked; `previous` is the place of the caller's own stack pointer, and `next`
    /// is what `switch` or `first_context` left of a thread that is not running.
    #[unsafe(naked)]
    pub unsafe extern "C" fn switch(previous: *mut usize, next: usize) {
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

    /// Leaves the boot stack, which is the interrupt stack from here on, for the first thread.
    ///
    /// # Safety
    ///
    /// As for [`switch`]; nothing on the boot stack is used any more, and `interrupt_stack` is its
    /// end.
    #[unsafe(naked)]
    pub unsafe extern "C" fn enter(next: usize, interrupt_stack: usize) -> ! {
        naked_asm!(
            "mov sp, x1",
            "msr spsel, #0",
            "mov sp, x0",
            "ldp x29, x30, [sp, #80]",
            "ldp x19, x20, [sp], #96",
            "ret",
        )
    }

    /// Where a thread begins: `first_context` is what it finds in its registers.
    #[unsafe(naked)]
    pub unsafe extern "C" fn begin() -> ! {
        naked_asm!("mov x0, x20", "mov x30, xzr", "msr daifclr, #2", "br x19",)
    }

    unsafe extern "C" {
        static tenon_vectors: u8;
    }

    /// The address of the vector table.
    pub fn vectors() -> usize {
        &raw const tenon_vectors as usize
    }

    global_asm!(
        // Arm ARM, D1.4.2: sixteen vectors of 32 instructions; the first four are taken from
        // SP_EL0, where threads run, the next four from SP_EL1, where handlers do. Everything but
        // an interrupt to a thread is the end of this image.
        ".macro tenon_fatal kind",
        "    .balign 0x80",
        "    mov x0, #\\kind",
        "    b {fatal}",
        ".endm",
        ".macro tenon_restore",
        "    ldp x18, x30, [sp, #144]",
        "    ldp x2, x3, [sp, #16]",
        "    ldp x4, x5, [sp, #32]",
        "    ldp x6, x7, [sp, #48]",
        "    ldp x8, x9, [sp, #64]",
        "    ldp x10, x11, [sp, #80]",
        "    ldp x12, x13, [sp, #96]",
        "    ldp x14, x15, [sp, #112]",
        "    ldp x16, x17, [sp, #128]",
        "    ldp x0, x1, [sp], #{frame}",
        "    eret",
        ".endm",
        ".section .text.vectors, \"ax\"",
        ".balign 0x800",
        "tenon_vectors:",
        "    tenon_fatal 0",
        "    .balign 0x80",
        ".global tenon_interrupt",
        "tenon_interrupt:",
        "    msr spsel, #0",
        "    stp x0, x1, [sp, #-{frame}]!",
        "    stp x2, x3, [sp, #16]",
        "    stp x4, x5, [sp, #32]",
        "    stp x6, x7, [sp, #48]",
        "    stp x8, x9, [sp, #64]",
        "    stp x10, x11, [sp, #80]",
        "    stp x12, x13, [sp, #96]",
        "    stp x14, x15, [sp, #112]",
        "    stp x16, x17, [sp, #128]",
        "    stp x18, x30, [sp, #144]",
        "    msr spsel, #1",
        "    mrs x0, S3_0_C12_C12_0", // ICC_IAR1_EL1
        "    mrs x1, tpidr_el1",
        "    ldp x2, x3, [x1, #{table}]",
        "    cmp x0, x3",
        "    b.hs 2f",
        "    ldr x2, [x2, x0, lsl #3]",
        "    cbz x2, 2f",
        "    str x0, [sp, #-16]!",
        "    blr x2",
        ".global tenon_interrupt_served",
        "tenon_interrupt_served:",
        "    ldr x0, [sp], #16",
        "    msr S3_0_C12_C12_1, x0", // ICC_EOIR1_EL1
        "    b 3f",
        "2:  bl {refuse}",
        "    b 3f",
        "    tenon_fatal 2",
        "    tenon_fatal 3",
        "    tenon_fatal 4",
        "    tenon_fatal 5",
        "    tenon_fatal 6",
        "    tenon_fatal 7",
        "    tenon_fatal 8",
        "    tenon_fatal 9",
        "    tenon_fatal 10",
        "    tenon_fatal 11",
        "    tenon_fatal 12",
        "    tenon_fatal 13",
        "    tenon_fatal 14",
        "    tenon_fatal 15",
        "    .balign 0x80",
        // Back to the thread, unless somebody more urgent became ready. Nothing masked ran that
        // changes ELR and SPSR, so only a preempted thread needs them saved.
        "3:  mrs x1, tpidr_el1",
        "    msr spsel, #0",
        "    ldrb w0, [x1, #{needed}]",
        "    cbnz w0, 4f",
        "    tenon_restore",
        ".global tenon_interrupt_end",
        ".set tenon_interrupt_end, . - 4",
        "4:  mrs x0, elr_el1",
        "    mrs x1, spsr_el1",
        "    stp x0, x1, [sp, #160]",
        "    bl {reschedule}",
        "    ldp x0, x1, [sp, #160]",
        "    msr elr_el1, x0",
        "    msr spsr_el1, x1",
        "    tenon_restore",
        ".previous",
        refuse = sym crate::kernel::refuse,
        table = const crate::kernel::TABLE,
        needed = const crate::kernel::NEEDED,
        reschedule = sym crate::kernel::reschedule,
        fatal = sym crate::fault::fatal,
        frame = const FRAME,
    );

    // Arm ARM, D1.2: a core that was started at EL2 without Mortise goes down to EL1 for good.
    // HCR_EL2.RW makes EL1 AArch64; the timers and the GIC's registers are left to EL1; SPSR 0x3c5
    // is EL1 on SP_EL1 with everything masked. x30 is where the entry code goes on.
    global_asm!(
        ".section .text.tenon_drop, \"ax\"",
        ".global tenon_drop_to_el1",
        "tenon_drop_to_el1:",
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
        "    mov x0, #0xf",
        "    msr S3_4_C12_C9_5, x0",
        "    isb",
        "    mov x0, #0x0800",
        "    movk x0, #0x30d0, lsl #16",
        "    msr sctlr_el1, x0",
        "    mov x0, #0x3c5",
        "    msr spsr_el2, x0",
        "    msr elr_el2, x30",
        "    eret",
        ".previous",
    );
}

#[cfg(not(target_arch = "aarch64"))]
pub use host::{begin, enter, switch, vectors};

/// On the host nothing is switched: what is tested there is who would run.
#[cfg(not(target_arch = "aarch64"))]
mod host {
    /// Stands for the switch.
    ///
    /// # Safety
    ///
    /// None is needed.
    pub unsafe extern "C" fn switch(_: *mut usize, _: usize) {}

    /// Stands for the first switch.
    ///
    /// # Safety
    ///
    /// None is needed.
    pub unsafe extern "C" fn enter(_: usize, _: usize) -> ! {
        hw_arch::cpu::park()
    }

    /// Stands for a thread's first instructions.
    pub extern "C" fn begin() -> ! {
        hw_arch::cpu::park()
    }

    /// Stands for the vectors.
    pub fn vectors() -> usize {
        0
    }
}
