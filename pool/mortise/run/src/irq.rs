//! Interrupts that are taken to EL2.

pub(crate) mod acknowledge;
pub(crate) mod deliver;
pub(crate) mod doorbell;
pub(crate) mod init;
pub(crate) mod iommu;
pub(crate) mod posted;

pub use acknowledge::{CoreInterrupts, IrqOutcome};
