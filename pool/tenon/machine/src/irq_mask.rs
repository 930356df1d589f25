//! Interrupt mask of the current core (PSTATE.I).

use crate::options;

/// PSTATE.I as DAIF shows it.
const I: u64 = 1 << 7;

/// Masks interrupts and returns the previous mask.
#[inline(always)]
pub fn mask() -> u64 {
    let mask = hw_arch::read_register!("daif");
    hw_arch::cpu::mask_interrupts();
    mask
}

/// Restores a mask that [`mask`] returned.
///
/// # Safety
///
/// All state that the mask protected is consistent.
#[inline(always)]
pub unsafe fn restore(mask: u64) {
    hw_arch::write_register!("daif", mask);
}

/// Whether the code that called [`mask`], which returned this value, must not block: it ran in a
/// handler or with interrupts masked. A handler that can be nested runs unmasked, on SP_EL1.
#[inline(always)]
pub fn forbids_blocking(mask: u64) -> bool {
    mask & I != 0 || options::nesting() && hw_arch::read_register!("spsel") & 1 != 0
}

/// Whether interrupts are masked.
#[inline(always)]
pub fn is_masked() -> bool {
    hw_arch::read_register!("daif") & I != 0
}

/// Calls `action`, which does not use the kernel, with interrupts masked.
#[inline(always)]
pub fn without_irqs<R>(action: impl FnOnce() -> R) -> R {
    let mask = mask();
    let result = action();
    // SAFETY: `action` has returned, so no access to the protected state is in progress.
    unsafe { restore(mask) };
    result
}
