//! Exception vectors, and the report of fatal errors.

pub(crate) mod fault;

/// Offsets in the registers of EL0, `Context` of `tenon-user`, which the vectors store.
pub mod context {
    /// The kernel's stack pointer.
    pub const KERNEL_STACK: usize = 272;
    /// The interrupt stack of the core that executes EL0.
    pub const INTERRUPT_STACK: usize = 304;
    /// The word that ends the execution after an interrupt.
    pub const ATTENTION: usize = 312;
}

#[cfg(target_arch = "aarch64")]
pub(crate) mod vectors;

/// Stand-in for the host, which takes no exceptions.
#[cfg(not(target_arch = "aarch64"))]
pub(crate) mod vectors {
    pub(crate) fn vectors(_: bool) -> usize {
        0
    }
}
