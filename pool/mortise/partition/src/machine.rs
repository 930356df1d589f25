//! Machine, core and VM records, and the registry of the image's libraries.

pub(crate) mod colouring;
pub(crate) mod drain;
pub(crate) mod interface;
pub(crate) mod line;
pub(crate) mod registry;
mod topology;
pub(crate) mod vm;

pub use topology::{Core, Machine, Vcpu};
pub(crate) use topology::{posted_irq, report, trace};
pub use vm::Vm;
pub use vm::direct_sgi::DirectSgi;
