//! Static partitions: mode 1 of Mortise.
//!
//! The manifest divides the machine: each virtual machine has cores, memory,
//! devices and interrupts of its own, for as long as it runs. There is no
//! scheduler, and a core's translation table holds nothing of another virtual
//! machine's memory (TenonOS paper, 4.4.2, Figure 6).
//!
//! | module | what it is about |
//! |---|---|
//! | `boot` | from the first Rust instruction to running cores |
//! | `machine`, `board` | the cores and what they share; the board's constants |
//! | `memory` | what each core maps; stage 2 |
//! | `lead` | what is done between two runs: its end, its memory filled, in short steps |
//! | `part` | long work in parts |
//! | `vm` | one virtual machine: what Mortise keeps for it, and orders to it |
//! | `backlog` | what one of those printed, for its manager |
//! | `controller` | how its interrupts are controlled |
//! | `description` | what is said of a virtual machine |
//! | `loan` | cores that a virtual machine lends |
//! | `orders` | what others have a virtual machine do |
//! | `slot` | places for virtual machines that are made at run time |
//! | `suspend` | virtual machines that run only while somebody wants them to |
//! | `cores` | a core's life: start, rest, orders |
//! | `ends` | the two ends of what a vCPU does there |
//! | `dispatch` | cores that several virtual CPUs share: who shares them out |
//! | `tenant` | what runs on cores that no virtual machine has |
//! | `tables` | what the libraries of the image registered |
//! | `service` | what such a dispatcher asks of its core |
//! | `exits` | what a guest's exit leads to |
//! | `notice` | interrupts that another core raises for one whose vCPU has it to itself |
//! | `short` | short ways for those that a guest makes most, where it has a core to itself |
//! | `fault` | why a guest cannot go on, told in steps |
//! | `calls` | hypercalls and PSCI |
//! | `devices`, `gic` | loads and stores that a device of Mortise's answers |
//! | `interrupts` | interrupts that come to Mortise |
//! | `irqchip` | interrupt controllers other than the GICv3 |
//! | `iommu` | devices that read and write memory by themselves |
//! | `console` | one serial line for all |
//! | `drain` | the way there from log rings |
//! | `alarms` | what is done by the clock |
//! | `trace` | what happens on a core, recorded for a timeline |
//! | `witness` | what checks what guests go on with, in test builds |
//!
//! A guest is hostile. What comes from it is decoded in `mortise-vcpu` and
//! answered here or in the library of the device; what it has no right to stops
//! it, with a reason, or does not exist for it. Nothing it does panics Mortise.
//!
//! In *direct* mode a guest's interrupts and timer never come here: between its
//! set-up and its end, its core executes no instruction of Mortise's.
//!
//! The generated image crate calls [`image!`] with its constants and tables.
#![cfg_attr(target_os = "none", no_std)]
#![expect(
    unsafe_code,
    reason = "memory and registers of the machine are divided here"
)]

// What the compiler has bytes moved by.
use mortise_memcpy as _;

mod boot;
mod console;
mod gic;
mod image;
mod irq;
mod machine;
mod run;
mod trap;

pub use boot::{panicked, primary, secondary, slots::add_slot};
pub use console::ConsoleAccess;
pub use gic::{RaiseInterrupt, VirtualInterface};
pub use irq::{CoreInterrupts, IrqOutcome, posted::take_posted_irq};
pub use machine::{
    Board, Core, DirectSgi, Gic, Machine, RootComplex, Vcpu, Vm,
    fatal::hypervisor_fault,
    interface::{
        ApplyDecision, Background, Colouring, CoreTask, Device, DeviceResponse, Dispatch,
        Dispatcher, ExitChecker, Iommu, Irqchip, OwnedInterrupts, Regulator, VmExtension,
        WakeReason, only_one, only_one_colouring, only_one_iommu, only_one_irqchip,
        only_one_regulator,
    },
    options::Options,
    priority::PriorityMask,
    registry::{Registry, Resources},
    resumable::Step,
    slot::SlotConfig,
    stacks::{PerCore, Stack, loaded_end},
};
pub use mortise_console::Argument;
pub use mortise_hypercall::{PowerState, Start};
pub use mortise_psci::Loan;
pub use mortise_vcpu::Access;
pub use run::{ParkedAction, SlotLifecycle, VcpuLifecycle};
pub use trap::{
    HandleExit,
    exits::{exit, exit_pinned},
    hypercalls::{CONSOLE, CONSOLE_KICK},
};

/// What the [`image!`] macro refers to, wherever the image crate stands.
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
