//! The few instructions Rust has no words for: vectors, context switch, interrupt mask.
//!
//! Threads run on SP_EL0 and exceptions on SP_EL1: the hardware itself changes to the interrupt
//! stack (Arm ARM, D1.2.2), and a thread that overflowed its stack can still be reported. An
//! interrupt saves the caller-saved registers on the stack of the thread it came to, where they are
//! in place if it preempts: the vector then calls the scheduler from there, in the thread's own
//! context, and from there on a preempted thread looks like one that called [`switch`] itself. All
//! waiting threads wait at one place, with the callee-saved registers on their stack. Costs are
//! listed in `docs/costs.md`.
//!
//! What an image leaves out costs it nothing: there is a table of vectors and a switch for each
//! choice of options, every one in a section of its own, and the linker drops those that nothing
//! names.

use crate::options;

#[cfg(target_arch = "aarch64")]
mod switch;
#[cfg(target_arch = "aarch64")]
mod vectors;

#[cfg(target_arch = "aarch64")]
pub use switch::{begin, enter, switch};
#[cfg(target_arch = "aarch64")]
pub use vectors::vectors;

hw_arch::drop_to_el1!("tenon_drop_to_el1");

/// Words on the stack of a thread that waits: x19 to x30.
const INTEGERS: usize = 12;

/// Words besides in an image with floating point: d8 to d15, FPCR and FPSR.
const FLOATS: usize = 10;

/// The bit of a context's address that says that its thread has forgone floating point.
pub const FP_DISABLED: usize = 1;

/// Where a context is.
pub fn place(context: usize) -> usize {
    context & !FP_DISABLED
}

/// Has a use of floating point by this core trapped from here on (CPACR_EL1.FPEN).
pub fn trap_floats() {
    hw_arch::write_register!("cpacr_el1", 0);
    hw_arch::barrier::isb();
}

/// Bytes on the stack of a thread that waits.
#[inline(always)]
pub fn context_size() -> usize {
    let words = if options::fp() {
        INTEGERS + FLOATS
    } else {
        INTEGERS
    };
    words * size_of::<usize>()
}

/// Lays the context of a thread that has not run under `top`, and returns its address: the thread
/// begins with `entry(argument)`, which must not return, with interrupts on and FPCR and FPSR zero, so
/// that it rounds to nearest and traps nothing.
///
/// # Safety
///
/// `top` is a multiple of 16, and the [`context_size`] bytes below it are nobody else's.
pub unsafe fn lay_first_context(top: usize, entry: usize, argument: usize) -> usize {
    let address = top - context_size();
    let context = address as *mut usize;
    // SAFETY: the caller's contract; all of these are within the context.
    unsafe {
        context.write(entry);
        context.add(1).write(argument);
        // The frame pointer: here the chain of frames ends.
        context.add(INTEGERS - 2).write(0);
        context.add(INTEGERS - 1).write(begin as *const () as usize);
        if options::fp() {
            context.add(INTEGERS + FLOATS - 2).write(0);
            context.add(INTEGERS + FLOATS - 1).write(0);
        }
    }
    address
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

/// Whether the caller of [`mask`], which returned this, must not wait: it is in a handler, or masked
/// interrupts already. A handler that others may interrupt runs unmasked, on SP_EL1.
#[inline(always)]
pub fn is_bound(mask: u64) -> bool {
    /// PSTATE.I as DAIF shows it.
    const I: u64 = 1 << 7;
    mask & I != 0 || options::nesting() && hw_arch::read_register!("spsel") & 1 != 0
}

/// Makes `pointer` what TPIDR_EL0 holds: the thread pointer that compiled C finds its thread-local
/// data by.
#[inline(always)]
pub fn set_thread_pointer(pointer: usize) {
    hw_arch::write_register!("tpidr_el0", pointer as u64);
}

/// Touches an address that no VM has: Mortise takes it as this VM's fault and acts on it. With the
/// MMU off, so that it is not this image's own tables that refuse.
pub fn fault() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: Mortise maps nothing there, so nothing is written, and what is executed lies where it
    // did with the MMU on.
    unsafe {
        core::arch::asm!(
            "mrs {control}, sctlr_el1",
            "bic {control}, {control}, #1",
            "msr sctlr_el1, {control}",
            "isb",
            "str xzr, [{nowhere}]",
            control = out(reg) _,
            nowhere = in(reg) 0usize,
            options(nostack, preserves_flags),
        );
    }
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
    pub unsafe fn switch(_: *mut usize, _: usize) {}

    /// Stands for the first switch.
    ///
    /// # Safety
    ///
    /// None is needed.
    pub unsafe fn enter(_: usize, _: usize) -> ! {
        hw_arch::cpu::park()
    }

    /// Stands for a thread's first instructions.
    pub extern "C" fn begin() -> ! {
        hw_arch::cpu::park()
    }

    /// Stands for the vectors.
    pub fn vectors(_: bool) -> usize {
        0
    }
}
