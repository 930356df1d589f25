//! GICv3 interrupt controller (Arm IHI 0069), one security state.
//!
//! The distributor and redistributors are frames of registers; the CPU interface
//! is a handful of system registers. An interrupt is named by its INTID: SGIs
//! 0 to 15, PPIs 16 to 31, SPIs from 32. Every call is a few accesses long,
//! except the initialisations, which are linear in the number of interrupts.
//!
//! Both kernels use it: Mortise owns the frames of a machine it runs on; Tenon
//! owns them on bare metal, and under Mortise each access of its is mediated,
//! but not those to the CPU interface.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod cpu_interface;
mod distributor;
mod redistributor;

pub use distributor::Distributor;
pub use hw_irqchip::bank::Lever;
pub use hw_irqchip::{DEFAULT_PRIORITY, FIRST_SPI, Group, Trigger, is_special};
pub use redistributor::Redistributor;
