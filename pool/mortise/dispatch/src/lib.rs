//! Scheduler and VM switch of shared cores: dispatch, mode 2 of Mortise.
//!
//! A shared core runs the most urgent of its ready vCPUs (TenonOS paper, 4.4.3, Figure 7). A vCPU
//! that waits for an interrupt (WFI) is descheduled at once. An interrupt for a more urgent vCPU,
//! including its own timer's, preempts the running one at once, whatever that has masked: physical
//! interrupts are taken to EL2. One for a VM of a lower interrupt level waits behind the priority mask
//! (`mortise_state::priority`). There is no periodic tick: the hypervisor timer is set for the next
//! event only.
//!
//! | module | content |
//! |---|---|
//! | `core_scheduler` | scheduler of a core; which vCPU runs: `decide`, in the order of `core_sched::entity` |
//! | `core_scheduler::interrupt_entry`, `interrupts` | interrupt exits; wake-ups by interrupts and timers |
//! | `core_scheduler::reserved` | decisions with reservations, and the charge of budgets |
//! | `core_scheduler::guest_entry` | guest entry and VM switch |
//! | `core_scheduler::admission` | admission and removal of vCPUs; their start and stop in steps |
//! | `core_mode`, `bounds` | scheduling mode of a core; bounds of its sections |
//! | `vcpu_context` | state of a vCPU that a switch saves and restores |
//!
//! | state of a vCPU | where it is while the vCPU is descheduled |
//! |---|---|
//! | general registers | in its frame, always: no switch copies them |
//! | EL1 system registers, virtual timer | in its [context](vcpu_context::VcpuContext) |
//! | virtual CPU interface | in its context: the list registers in use |
//! | floating-point registers | in the core, until another vCPU uses floating point |
//! | deadline of its virtual timer | in the core's deadline table if it is blocked; otherwise its timer is evaluated when it runs |
//! | SPIs that arrived meanwhile | pending in its context, active in the distributor |
//!
//! A parked vCPU (off, or its VM not started, stopped or restarting) is scheduled like a running
//! one. Instead of its guest, Mortise runs the vCPU's stop and start sequence and its deferred work
//! ([`Core::service_parked_vcpu`](mortise_partition::Core::service_parked_vcpu)).
//!
//! # Guarantees
//!
//! - VMs on a core share nothing but time: every register that EL1 or EL0 can write is switched or
//!   traps.
//! - No interrupt is lost: one that cannot be listed stays pending, and its vCPU is ready.
//! - An exit that leads to a VM switch tests for pending interrupts between its steps, so that none
//!   waits for the whole exit.
#![no_std]
#![expect(unsafe_code, reason = "contexts of virtual CPUs are exchanged here")]

mod bounds;
mod core_mode;
mod core_scheduler;
mod vcpu_context;

pub use core_scheduler::{CoreSchedulers, DISPATCH};
