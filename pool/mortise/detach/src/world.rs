//! Entry to a context and exit from it, as a call that returns when the core comes back to EL2.
//!
//! The vectors here are those of EL2 while a core is lent. They store the general registers in the
//! cell and return from the call, with the callee-saved registers and the cause.

use hw_arch::{El2, ExceptionLevel};
use mortise_vcpu::Cause;

/// Writes one vector for an exit from the context.
#[cfg(target_os = "none")]
macro_rules! from_context {
    ($cause:literal) => {
        concat!(
            ".balign 128\n stp x0, x1, [sp, #-16]!\n mov x1, #",
            $cause,
            "\n b detach_leave\n"
        )
    };
}

#[cfg(target_os = "none")]
core::arch::global_asm!(
    ".section .text.detach, \"ax\"",
    ".balign 2048",
    ".global detach_vectors",
    "detach_vectors:",
    mortise_vcpu::own_fault_vectors!(),
    from_context!("0"),
    from_context!("1"),
    from_context!("2"),
    from_context!("3"),
    // AArch32, in which no context begins.
    from_context!("0"),
    from_context!("1"),
    from_context!("2"),
    from_context!("3"),
    ".balign 128",
    // Below x0 and x1 on the stack: x19 to x30, then the address of the general registers.
    "detach_leave:",
    "    ldr x0, [sp, #112]",
    "    stp x2, x3, [x0, #16]",
    "    stp x4, x5, [x0, #32]",
    "    stp x6, x7, [x0, #48]",
    "    stp x8, x9, [x0, #64]",
    "    stp x10, x11, [x0, #80]",
    "    stp x12, x13, [x0, #96]",
    "    stp x14, x15, [x0, #112]",
    "    stp x16, x17, [x0, #128]",
    "    stp x18, x19, [x0, #144]",
    "    stp x20, x21, [x0, #160]",
    "    stp x22, x23, [x0, #176]",
    "    stp x24, x25, [x0, #192]",
    "    stp x26, x27, [x0, #208]",
    "    stp x28, x29, [x0, #224]",
    "    str x30, [x0, #240]",
    "    ldp x2, x3, [sp], #16",
    "    stp x2, x3, [x0]",
    "    ldp x19, x20, [sp, #16]",
    "    ldp x21, x22, [sp, #32]",
    "    ldp x23, x24, [sp, #48]",
    "    ldp x25, x26, [sp, #64]",
    "    ldp x27, x28, [sp, #80]",
    "    ldp x29, x30, [sp], #112",
    "    mov x0, x1",
    "    ret",
    ".global detach_enter",
    "detach_enter:",
    "    stp x29, x30, [sp, #-112]!",
    "    stp x19, x20, [sp, #16]",
    "    stp x21, x22, [sp, #32]",
    "    stp x23, x24, [sp, #48]",
    "    stp x25, x26, [sp, #64]",
    "    stp x27, x28, [sp, #80]",
    "    str x0, [sp, #96]",
    "    ldp x2, x3, [x0, #16]",
    "    ldp x4, x5, [x0, #32]",
    "    ldp x6, x7, [x0, #48]",
    "    ldp x8, x9, [x0, #64]",
    "    ldp x10, x11, [x0, #80]",
    "    ldp x12, x13, [x0, #96]",
    "    ldp x14, x15, [x0, #112]",
    "    ldp x16, x17, [x0, #128]",
    "    ldp x18, x19, [x0, #144]",
    "    ldp x20, x21, [x0, #160]",
    "    ldp x22, x23, [x0, #176]",
    "    ldp x24, x25, [x0, #192]",
    "    ldp x26, x27, [x0, #208]",
    "    ldp x28, x29, [x0, #224]",
    "    ldr x30, [x0, #240]",
    "    ldp x0, x1, [x0]",
    "    eret",
    // Barrier against speculation past the exception return.
    "    dsb nsh",
    "    isb",
    ".previous",
);

/// The vectors of this core while it is not lent.
pub(crate) struct Vectors(u64);

impl Vectors {
    /// Installs the vectors of this module on this core.
    pub(crate) fn install() -> Self {
        let own = Self(El2::read_vbar());
        #[cfg(target_os = "none")]
        {
            unsafe extern "C" {
                static detach_vectors: u8;
            }
            // SAFETY: the symbol is a vector table of 2 KiB, aligned, never written.
            unsafe { El2::write_vbar(&raw const detach_vectors as u64) };
            hw_arch::barrier::isb();
        }
        own
    }

    /// Restores the core's own vectors.
    pub(crate) fn restore(self) {
        // SAFETY: the address was read from `VBAR_EL2` of this core by `install`.
        unsafe { El2::write_vbar(self.0) };
        hw_arch::barrier::isb();
    }
}

/// Continues a context at `ELR_EL2` in the state of `SPSR_EL2` until the core returns to EL2, and
/// returns the vector that was taken.
///
/// # Safety
///
/// `registers` points to 31 words, x0 to x30, that may be read and written. The vectors of this
/// module are installed on this core, its stage 2 and traps are those of the context's VM, and the
/// state is one of EL0 or EL1.
pub(crate) unsafe fn run(registers: *mut u64) -> Cause {
    #[cfg(target_os = "none")]
    {
        unsafe extern "C" {
            fn detach_enter(registers: *mut u64) -> u64;
        }
        // SAFETY: the caller states the conditions on registers, vectors, stage 2 and state; the
        // assembly keeps callee-saved registers.
        match unsafe { detach_enter(registers) } {
            0 => Cause::Synchronous,
            1 => Cause::Irq,
            2 => Cause::Fiq,
            _ => Cause::SError,
        }
    }
    #[cfg(not(target_os = "none"))]
    {
        let _ = (registers, El2::read_elr());
        Cause::Synchronous
    }
}
