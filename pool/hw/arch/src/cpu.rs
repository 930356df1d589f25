//! Waiting, interrupt masks and the core's identity.

/// Sleeps until an interrupt is pending, masked or not.
#[inline(always)]
pub fn wait_for_interrupt() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: waiting changes no state.
    unsafe {
        core::arch::asm!("wfi", options(nostack, preserves_flags));
    }
}

/// Lets others go first while this core spins.
///
/// YIELD, not the ISB of `core::hint::spin_loop`: an emulator that runs the cores in turn ends the
/// turn here, instead of spinning for a whole slice until the one waited for may go on.
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
    // SAFETY: fewer interrupts never break an invariant.
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
    // SAFETY: the caller's contract.
    unsafe {
        core::arch::asm!("msr daifclr, #2", options(nostack, preserves_flags));
    }
}

/// Affinity of this core: Aff3 in bits 39:32, Aff2 to Aff0 in bits 23:0.
#[must_use]
pub fn affinity() -> u64 {
    crate::registers::mpidr_el1::read() & 0xff_00ff_ffff
}

/// Stops this core for good.
pub fn park() -> ! {
    mask_interrupts();
    loop {
        wait_for_interrupt();
        core::hint::spin_loop();
    }
}
