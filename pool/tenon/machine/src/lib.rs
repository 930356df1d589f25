//! Processor and board below the kernel of Tenon: context switch, interrupt mask, address space.
//!
//! | module | content |
//! |---|---|
//! | [`options`] | the configuration of the image as constants of the link |
//! | [`assertions`] | assertions of the kernel, and the canary of a stack |
//! | [`analysis_notes`] | notes for the analysis of the linked image |
//! | [`irq_mask`] | the interrupt mask of the current core |
//! | [`object_lock`] | the lock of an object that several cores share |
//! | [`per_core`] | state that only its own core accesses |
//! | [`context`] | the saved context of a thread, and the switch to another one |
//! | [`gic`] | the interrupt controller of the machine |
//! | [`address_space`] | stage 1 translation and guard pages |
//!
//! None of these knows a thread or a timer. Applications use `tenon-thread`, which exports
//! [`options`]; the other modules are for the crates of the kernel
//! (`docs/decisions/tenon-crates.md`).
//!
//! Guarantees: no function allocates or blocks. A lock is a fair ticket lock; in an image for one
//! core it takes no instruction.

#![no_std]
#![expect(
    unsafe_code,
    reason = "context switch, translation tables, addresses of the board"
)]

pub mod address_space;
pub mod analysis_notes;
pub mod assertions;
pub mod context;
#[cfg(target_arch = "aarch64")]
mod context_switch;
pub mod gic;
pub mod irq_mask;
pub mod object_lock;
pub mod options;
pub mod per_core;
pub mod server_record;
