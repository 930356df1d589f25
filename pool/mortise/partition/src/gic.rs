//! List registers, and the physical GIC behind a virtual one.

pub(crate) mod list_registers;
pub(crate) mod virtual_interface;
pub(crate) mod vm_interrupts;

pub use virtual_interface::VirtualInterface;
pub use vm_interrupts::RaiseInterrupt;
