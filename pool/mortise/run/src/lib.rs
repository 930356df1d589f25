//! Execution of guests on a core: exits and interrupts, starts and stops.
//!
//! | module | content | imports |
//! |---|---|---|
//! | `gic` | list registers, the physical GIC behind a virtual one, accesses of guests | |
//! | `console` | input of the serial line, the virtual PL011, deferred work | `gic` |
//! | `irq` | interrupts that are taken to EL2 | `console` |
//! | `run` | runs of a VM: start, restart, stop | `irq` |
//! | `trap` | exits: hypercalls, system registers, device accesses | `run` |
//!
//! Each module imports only those above it. They extend [`Core`](mortise_machine::Core) and
//! [`Vm`](mortise_machine::Vm) by traits, such as [`VcpuLifecycle`].
//!
//! Generic code of the virtual GIC is instantiated here, and what calls it is inlined here: a second
//! crate would link a second copy, or calls on the way of each exit.
#![cfg_attr(target_os = "none", no_std)]
#![expect(unsafe_code, reason = "guests are entered, and registers set")]

mod console;
mod gic;
mod irq;
mod run;
mod trap;

pub use console::{ConsoleAccess, input::enable_receive_for_guest};
pub use gic::{RaiseInterrupt, VirtualInterface, reset::reset_spis};
pub use irq::{CoreInterrupts, IrqOutcome, posted::take_posted_irq};
pub use run::{ParkedAction, VcpuLifecycle, restart_sequence::CHUNK, vcpu_run::run};
pub use trap::{
    HandleExit,
    exits::{exit, exit_pinned},
    hypercalls::{CONSOLE, CONSOLE_KICK},
};
