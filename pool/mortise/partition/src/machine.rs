//! Machine, core and VM records, and the registry of the image's libraries.

pub(crate) mod backlog;
pub(crate) mod board;
pub(crate) mod colouring;
pub(crate) mod deferred_work;
pub(crate) mod description;
pub(crate) mod drain;
pub(crate) mod fatal;
pub(crate) mod fault;
pub(crate) mod interface;
pub(crate) mod interrupts;
pub(crate) mod line;
pub(crate) mod log_ring;
pub(crate) mod lost_cores;
pub(crate) mod options;
pub(crate) mod periodic;
pub(crate) mod priority;
pub(crate) mod registry;
pub(crate) mod restart;
pub(crate) mod resumable;
pub(crate) mod slot;
pub(crate) mod stacks;
pub(crate) mod stage2;
pub(crate) mod suspension;
mod topology;
pub(crate) mod vm;

pub use board::{Board, Gic, RootComplex};
pub use topology::{Core, Machine, Vcpu};
pub(crate) use topology::{posted_irq, report, trace};
pub use vm::Vm;
pub use vm::direct_sgi::DirectSgi;
