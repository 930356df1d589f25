//! Interrupts that are taken to EL2, the virtual and mediated interrupt controllers of VMs, and the
//! serial line.
//!
//! | module | content | imports |
//! |---|---|---|
//! | [`gic`] | list registers, the physical GIC behind a virtual one, accesses of guests | |
//! | [`console`] | the serial line: output, input, log rings, deferred work | `gic` |
//! | [`init`] | initialisation of a core's interrupt interface | `gic`, `console` |
//! | [`acknowledge`], [`deliver`], [`doorbell`], [`posted`], [`iommu`] | interrupts of a core, from their acknowledgement to a list register or to work of Mortise | `gic`, `console` |
#![cfg_attr(target_os = "none", no_std)]
#![expect(
    unsafe_code,
    reason = "the UART and the interrupt controller are driven here"
)]

pub mod acknowledge;
pub mod console;
pub mod deliver;
pub mod doorbell;
pub mod gic;
pub mod init;
pub mod iommu;
pub mod posted;

pub use acknowledge::{CoreInterrupts, IrqOutcome};
pub use console::ConsoleAccess;
pub use gic::{RaiseInterrupt, VirtualInterface};
