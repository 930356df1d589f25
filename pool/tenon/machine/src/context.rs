//! Saved context of a thread that does not run.
//!
//! Threads run on SP_EL0 and exceptions on SP_EL1: the hardware itself selects the interrupt stack
//! (Arm ARM, D1.2.2), and the stack overflow of a thread can still be reported. The exception
//! vector saves the caller-saved registers on the stack of the interrupted thread. If the thread is
//! preempted they stay there: the vector calls the scheduler on that stack, in the thread's own
//! context, so that a preempted thread looks like one that called [`switch`] itself. Every thread
//! that does not run is therefore suspended in the same function, with its callee-saved registers
//! on its stack. Costs are listed in `docs/costs.md`.
//!
//! Each combination of options has its own switch function and vector table, each in a section of
//! its own. The linker drops those that an image does not name, so an option that is off costs
//! nothing.

use crate::options;

#[cfg(target_arch = "aarch64")]
use crate::context_switch::begin;
#[cfg(target_arch = "aarch64")]
pub use crate::context_switch::{enter, switch};
#[cfg(not(target_arch = "aarch64"))]
use host::begin;
#[cfg(not(target_arch = "aarch64"))]
pub use host::{enter, switch};

/// Integer registers of a context: x19 to x30.
const INTEGERS: usize = 12;

/// Floating point registers of a context: d8 to d15, FPCR and FPSR.
const FLOATS: usize = 10;

/// The bit of a context's address that marks a thread with floating point disabled.
pub const FP_DISABLED: usize = 1;

/// The address of a context without its mark.
pub fn address(context: usize) -> usize {
    context & !FP_DISABLED
}

/// Makes this core trap floating point and SIMD instructions (CPACR_EL1.FPEN).
pub fn trap_fp() {
    hw_arch::write_register!("cpacr_el1", 0);
    hw_arch::barrier::isb();
}

/// The size of a context in bytes.
#[inline(always)]
pub fn size() -> usize {
    let words = if options::fp() {
        INTEGERS + FLOATS
    } else {
        INTEGERS
    };
    words * size_of::<usize>()
}

/// Writes the first context of a thread below `top` and returns its address. The thread starts with
/// `entry(argument)`, which must not return, with interrupts unmasked and FPCR and FPSR zero: round
/// to nearest, no traps.
///
/// # Safety
///
/// `top` is a multiple of 16, and no other code uses the [`size`] bytes below it.
pub unsafe fn write_first(top: usize, entry: usize, argument: usize) -> usize {
    let address = top - size();
    let context = address as *mut usize;
    // SAFETY: all of these words lie within the `size` bytes below `top`, which the caller
    // reserved.
    unsafe {
        context.write(entry);
        context.add(1).write(argument);
        // The frame pointer: a null link ends the chain of frames.
        context.add(INTEGERS - 2).write(0);
        context.add(INTEGERS - 1).write(begin as *const () as usize);
        if options::fp() {
            context.add(INTEGERS + FLOATS - 2).write(0);
            context.add(INTEGERS + FLOATS - 1).write(0);
        }
    }
    address
}

/// Sets TPIDR_EL0, the thread pointer by which compiled C finds thread-local data.
#[inline(always)]
pub fn set_thread_pointer(pointer: usize) {
    hw_arch::write_register!("tpidr_el0", pointer as u64);
}

/// Stand-ins for the host, where tests examine scheduling decisions and no context is switched.
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

    /// Stands for the first instructions of a thread.
    pub extern "C" fn begin() -> ! {
        hw_arch::cpu::park()
    }
}
