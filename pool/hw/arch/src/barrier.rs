//! Memory barriers and the instruction synchronization barrier.

macro_rules! barrier {
    ($($(#[$doc:meta])* $name:ident = $instruction:literal;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name() {
                #[cfg(target_arch = "aarch64")]
                // SAFETY: a barrier orders accesses and changes no memory.
                unsafe { core::arch::asm!($instruction, options(nostack, preserves_flags)) }
            }
        )*
    };
}

barrier! {
    /// Waits for all earlier accesses of the whole system.
    dsb_sy = "dsb sy";
    /// Waits for all earlier accesses, inner shareable.
    dsb_ish = "dsb ish";
    /// Orders accesses, inner shareable.
    dmb_ish = "dmb ish";
    /// Makes earlier changes of system registers take effect.
    isb = "isb";
}
