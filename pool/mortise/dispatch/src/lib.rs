//! Dispatch: cores that several virtual machines share, mode 2 of Mortise.
//!
//! Each such core runs, of the virtual CPUs that have something to do, the most urgent one
//! (TenonOS paper, 4.4.3, Figure 7). One that waits (WFI) gives the core away at once; what
//! comes for it, its own timer among it, gives the core back to it at once, whatever the
//! other one has masked: physical interrupts come to Mortise. Nothing ticks: the hypervisor
//! timer is set only for what is due.
//!
//! | state of a virtual CPU | where it is while another one has the core |
//! |---|---|
//! | general registers | in its frame, always: no switch copies them |
//! | EL1's system registers, virtual timer | in its seat |
//! | virtual CPU interface | in its seat: the list registers that were in use |
//! | floating point | in the core, until somebody else uses it |
//! | its timer's deadline | in the core's timer queue if it waits; else it finds out itself |
//! | a device's interrupt that came meanwhile | noted in its seat, active in the controller |
//!
//! A virtual CPU at rest (off, its machine not started, ended, to be started again) is
//! dispatched like one that runs; instead of its guest, what it has to do as a vCPU at rest
//! is done in its name ([`Core::handle_pending`](mortise_partition::Core::handle_pending)).
//!
//! # Guarantees
//!
//! * Between two virtual machines on a core nothing passes but time: every register that EL1
//!   or EL0 can write is exchanged or traps.
//! * No interrupt is lost: what cannot be listed now is noted or stays pending, and whom it
//!   is for is awake.
//! * An exit that leads to a switch looks for pending interrupts between its parts, so that
//!   none waits for all of it.
#![no_std]
#![expect(unsafe_code, reason = "contexts of virtual CPUs are exchanged here")]

mod admission;
mod bounds;
mod core_mode;
mod core_scheduler;
mod guest_entry;
mod interrupt_entry;
mod interrupts;
mod reserved;
mod vcpu_context;

pub use core_scheduler::{CoreSchedulers, DISPATCH};
