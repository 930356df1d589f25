//! GICv3 interrupt controller driver (Arm IHI 0069), for one security state.
//!
//! The distributor and redistributors are frames of registers; the CPU interface is a set of system
//! registers. An interrupt is identified by its INTID: SGIs 0 to 15, PPIs 16 to 31, SPIs from 32. Every
//! call takes a few accesses, except the initialisations, which are linear in the number of interrupts.
//!
//! Both kernels use it. Mortise owns the frames of the machine it runs on. Tenon owns them on bare
//! metal; under Mortise its accesses to the frames are mediated, those to the CPU interface are not.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod cpu_interface;
mod distributor;
mod redistributor;

pub use distributor::Distributor;
pub use hw_irqchip::bank::SetBit;
pub use hw_irqchip::{DEFAULT_PRIORITY, FIRST_SPI, Group, Trigger, is_special};
pub use redistributor::Redistributor;
