//! List registers, the physical GIC behind a virtual one, and accesses of guests to either.

pub(crate) mod guest_access;
pub(crate) mod list_registers;
pub(crate) mod reset;
pub(crate) mod sgi;
pub(crate) mod virtual_interface;
pub(crate) mod vm_interrupts;

pub use virtual_interface::VirtualInterface;
pub use vm_interrupts::RaiseInterrupt;
