//! Partitioning hypervisor: mode 1 of Mortise.
//!
//! The manifest divides the machine: each VM has its own cores, memory, devices and interrupts for
//! as long as it runs. There is no scheduler, and a core's translation table maps no memory of
//! another VM (TenonOS paper, 4.4.2, Figure 6).
//!
//! | crate or module | content | imports |
//! |---|---|---|
//! | `mortise-state` | state of which the records are composed, by subsystem; options of the image | |
//! | `mortise-machine` | records of the machine, its cores and VMs; orders to VMs; the registry | `mortise-state` |
//! | `mortise-output` | output on the serial line, log rings, reports of faults | `mortise-machine` |
//! | `mortise-run` | execution of guests: interrupts and exits, starts, restarts and stops | `mortise-output` |
//! | `slot_lifecycle` | filling and emptying of a VM slot | `mortise-run` |
//! | `boot` | from the first Rust instruction to running cores | `mortise-run` |
//! | [`image!`] | statics and entry points of an image | `boot` |
//!
//! Each imports only those above it. `mortise-machine` defines [`Core`], [`Vm`] and [`Machine`] with
//! their inherent methods; what stands below it here extends them by traits, such as
//! [`VcpuLifecycle`]. This crate exports all that libraries of an image use of the others.
//!
//! A guest is hostile. `mortise-vcpu` decodes its exits, and `mortise-run` or the library of a
//! device answers them; an access without a right to it stops the VM with a reason, or behaves as if
//! nothing were there. No guest can panic Mortise.
//!
//! With *direct* interrupts a guest's interrupts and timer are not taken to EL2: between its start
//! and its end, its core executes no instruction of Mortise.
//!
//! The generated image crate calls [`image!`] with its constants and tables.
#![cfg_attr(target_os = "none", no_std)]
#![expect(
    unsafe_code,
    reason = "memory and registers of the machine are divided here"
)]

// Provides the functions by which the compiler moves bytes.
use core_memcpy as _;

mod boot;
mod image;
mod slot_lifecycle;

pub use boot::{hypervisor_fault, panicked, primary, secondary, slots::add_slot};
pub use mortise_console::Argument;
pub use mortise_hypercall::{PowerState, Start};
pub use mortise_machine::{
    Core, DirectSgi, Machine, Vcpu, Vm, boot_argument,
    interface::{
        ApplyDecision, Background, Colouring, CoreTask, Device, DeviceResponse, Dispatch,
        Dispatcher, ExitChecker, Iommu, Irqchip, Manifest, OwnedInterrupts, Ready, Regulator,
        Seeder, VmExtension, WakeReason, only_one, only_one_colouring, only_one_iommu,
        only_one_irqchip, only_one_regulator, only_one_seeder,
    },
    keep_boot_argument,
    registry::{Registry, Resources},
};
pub use mortise_psci::Loan;
pub use mortise_run::{
    CONSOLE, CONSOLE_KICK, ConsoleAccess, CoreInterrupts, HandleExit, IrqOutcome, ParkedAction,
    RaiseInterrupt, VcpuLifecycle, VirtualInterface, exit, exit_pinned, take_posted_irq,
};
pub use mortise_state::{
    board::{Board, Gic, RootComplex},
    options::Options,
    priority::PriorityMask,
    resumable::Step,
    slot::SlotConfig,
    stacks::{PerCore, Stack, loaded_end},
};
pub use mortise_vcpu::Access;
pub use slot_lifecycle::SlotLifecycle;

/// Names that the [`image!`] macro uses, independent of the image crate's dependencies.
#[doc(hidden)]
pub mod deps {
    pub use core_log::Level;
    pub use core_memory::{FramePool, FrameRoom};
    pub use core_trace::Ring;
    pub use hw_arch;
    pub use hw_clock::{Clock, Frequency};
    pub use hw_serial::define_serial;
    pub use mortise_vcpu::{Cause, Frame, FrameCell};
    pub use spin::Once;
}
