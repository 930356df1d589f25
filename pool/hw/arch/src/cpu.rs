//! CPU control: wait for interrupt, interrupt masks and identity.

/// Sleeps until an interrupt is pending, masked or not.
#[inline(always)]
pub fn wait_for_interrupt() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: WFI changes no state.
    unsafe {
        core::arch::asm!("wfi", options(nostack, preserves_flags));
    }
}

/// Yields while this core spins.
///
/// YIELD, not the ISB of `core::hint::spin_loop`: an emulator that runs the cores in turn then
/// switches to the next core, instead of spinning for a whole slice.
#[inline(always)]
pub fn relax() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint changes no state.
    unsafe {
        core::arch::asm!("yield", options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "aarch64"))]
    core::hint::spin_loop();
}

/// Masks IRQ and FIQ on this core.
#[inline(always)]
pub fn mask_interrupts() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: masked interrupts break no invariant.
    unsafe {
        core::arch::asm!("msr daifset, #3", options(nostack, preserves_flags));
    }
}

/// Unmasks IRQ on this core.
///
/// # Safety
///
/// The vectors must be in place, and no lock may be held that an interrupt
/// handler takes.
#[inline(always)]
pub unsafe fn unmask_interrupts() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller states that the vectors are in place and that no lock of a handler is
    // held.
    unsafe {
        core::arch::asm!("msr daifclr, #2", options(nostack, preserves_flags));
    }
}

/// `ISR_EL1.F`: a Group 0 interrupt is pending (Arm ARM, D19.2.61).
pub const FIQ: u64 = 1 << 6;
/// `ISR_EL1.I`: a Group 1 interrupt is pending.
pub const IRQ: u64 = 1 << 7;

/// `ISR_EL1.A`: an SError is pending.
const SERROR: u64 = 1 << 8;

/// Whether an SError is pending.
#[inline]
#[must_use]
pub fn is_error_pending() -> bool {
    crate::registers::isr_el1::read() & SERROR != 0
}

/// The pending interrupts, masked or not: [`FIQ`] and [`IRQ`], physical ones at EL2.
#[inline(always)]
#[must_use]
pub fn pending_interrupts() -> u64 {
    interrupts_of(crate::registers::isr_el1::read())
}

/// Whether an interrupt is pending.
#[inline(always)]
#[must_use]
pub fn is_interrupt_pending() -> bool {
    pending_interrupts() != 0
}

/// Whether an interrupt is pending, one instruction shorter in the frequent case that none is. Only
/// otherwise an SError is distinguished.
#[inline(always)]
#[must_use]
pub fn is_interrupt_pending_now() -> bool {
    is_exception_pending_now() && is_interrupt_pending()
}

/// Whether an interrupt or an SError is pending, by as many instructions as
/// [`is_interrupt_pending_now`].
#[inline(always)]
#[must_use]
pub fn is_exception_pending_now() -> bool {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reading the register changes no state, and the label rejoins the end of the assembly.
    unsafe {
        core::arch::asm!(
            "mrs x17, isr_el1",
            "cbnz x17, {something}",
            something = label { return true },
            out("x17") _,
            options(nostack, preserves_flags)
        );
    }
    false
}

/// The bits of `ISR_EL1` that clear when interrupts are served. An SError stays pending until the
/// guest is entered and takes it: code that waited for it to clear would never continue.
const fn interrupts_of(pending: u64) -> u64 {
    pending & (FIQ | IRQ)
}

/// Affinity of this core: Aff3 in bits 39:32, Aff2 to Aff0 in bits 23:0.
#[must_use]
pub fn affinity() -> u64 {
    crate::registers::mpidr_el1::read() & 0xff_00ff_ffff
}

/// Stops this core permanently.
pub fn park() -> ! {
    mask_interrupts();
    loop {
        wait_for_interrupt();
        core::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_no_interrupt() {
        assert_eq!(interrupts_of(SERROR), 0);
        assert_eq!(interrupts_of(SERROR | IRQ), IRQ);
        assert_eq!(interrupts_of(FIQ), FIQ);
    }
}
