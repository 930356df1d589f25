//! List registers, the physical GIC behind a virtual one, and accesses of guests to either.

pub mod guest_access;
pub mod list_registers;
pub mod reset;
pub mod sgi;
pub mod virtual_interface;
pub mod vm_interrupts;

pub use virtual_interface::VirtualInterface;
pub use vm_interrupts::RaiseInterrupt;
