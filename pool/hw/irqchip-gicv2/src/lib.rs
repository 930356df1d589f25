//! GICv2 interrupt controller driver (Arm IHI 0048).
//!
//! There are two frames of registers: the distributor, in which private interrupts are banked by
//! core, and the CPU interface, at one address for all cores. An interrupt is identified by its INTID:
//! SGIs 0 to 15, PPIs 16 to 31, SPIs from 32. Every call takes a few accesses, except the
//! initialisations, which are linear in the number of interrupts.
//!
//! All interrupts are in the group that bit 0 of the control registers enables, and are signalled as
//! IRQ: Group 0, as FIQ is not enabled, or Group 1 where the accesses are non-secure and the secure
//! state owns Group 0 (IHI 0048, 4.3.1, 4.4.1).
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod cpu_interface;
mod distributor;

pub use cpu_interface::{CpuInterface, GICC_EOIR, GICC_IAR, InterfaceState, intid};
pub use distributor::Distributor;
pub use hw_irqchip::{DEFAULT_PRIORITY, FIRST_SPI, Group, Trigger, is_special};

/// A set of cores as the distributor numbers them: one bit per CPU interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets(pub u8);
