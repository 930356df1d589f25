//! Records of the machine, its cores and its VMs, and the registry of the image's libraries.
//!
//! The records are composed of the state in `mortise-state`, and refer to each other: a [`Core`] has
//! a current [`Vm`], a [`Machine`] has all of both.
//!
//! | module | content |
//! |---|---|
//! | `topology` | [`Machine`] and [`Core`]: kicks, [posted interrupts](posted_irq), deferred and periodic work, [reports](report), [traces](trace) |
//! | [`vm`] | [`Vm`]: orders to it, its slot, its memory, its routes |
//! | [`interface`] | traits that libraries of an image implement and register |
//! | [`registry`] | what is registered, and the resources of the image: constants of the link |
//! | [`line`], [`drain`] | the serial line, and the progress of output on it |
//! | [`colouring`] | physical location of memory that is allocated by colour |
#![cfg_attr(target_os = "none", no_std)]
#![expect(unsafe_code, reason = "the record of a core is found by a register")]

pub mod colouring;
pub mod drain;
pub mod interface;
pub mod line;
pub mod registry;
mod topology;
pub mod vm;

pub use topology::{
    Core, Machine, Vcpu, boot_argument, keep_boot_argument, posted_irq, report, trace,
};
pub use vm::{Vm, direct_sgi::DirectSgi};
