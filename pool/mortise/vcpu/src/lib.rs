//! Virtual CPUs: world switch, exits, traps and register save areas.
//!
//! - [`Frame`], [`FrameCell`] and [`enter`]: the general registers of a guest during an exit, their
//!   fixed location, and guest entry
//! - [`Exit`]: an exit decoded from the syndrome; [`ExitClass`]: the most frequent ones, decoded fast
//! - [`PinnedVcpu`]: the only vCPU of its core, with fast paths in the vectors
//! - [`Traps`]: which registers a guest owns and which trap; [`TrapResponse`]: how an access to a
//!   trapped register is answered
//! - [`reset`]: the reset state of a vCPU
//! - [`invalidate_translations`]: invalidation of stage 2 translations, for withdrawal
//! - [`id_register`]: identification registers as guests read them
//! - [`inject_undefined`], [`inject_external_abort`]: exceptions injected into a guest
//! - [`Context`], [`FloatingPoint`], [`VirtualCpuInterface`]: save areas of the other registers of a
//!   vCPU, for VM switches on shared cores
//!
//! For a pinned vCPU, the system registers of EL1, the FP registers, the timer and, with direct
//! interrupts, the CPU interface of the GIC stay in the hardware. An exit saves 31 registers and
//! restores them by 16 load-pair instructions; all else is up to the handler.
//!
//! The image defines the functions that the vectors call:
//!
//! - `mortise_exit(&mut Frame, Cause)` returns the frame of the vCPU to enter;
//! - `mortise_interrupted(&FrameCell) -> !` handles an interrupt of an AArch64 guest on a shared core;
//! - `mortise_pinned_exit` is `mortise_exit` for a core with a pinned vCPU. It returns only with the
//!   frame of that vCPU, and only if it has not changed x19 to x29 in it;
//! - `mortise_posted_interrupt` handles an interrupt that another core posted to a pinned vCPU;
//! - `mortise_fault(u64) -> !` handles an exception taken from EL2, and sets up a stack itself.
#![no_std]
#![expect(unsafe_code, reason = "vectors and EL2 system registers")]

mod context;
mod exit_class;
mod fast_vectors;
mod features;
mod floating_point;
mod id_registers;
mod inject;
mod reset;
mod syndrome;
mod traps;
mod world_switch;

pub use context::{
    ColdContext, Context, LrUsage, OptionalRegisters, TimerIrq, VirtualCpuInterface,
    has_ordering_regions, has_pointer_auth, has_ras, timer_deadline,
};
pub use exit_class::{ExitClass, word_access_ipa};
pub use fast_vectors::{ConstantReply, POSTED_SGI, PinnedVcpu, install_fast_vectors};
pub use floating_point::{FloatingPoint, FloatingPointTrap};
pub use id_registers::id_register;
pub use inject::{inject_external_abort, inject_undefined, is_exit_from_el0};
pub use reset::{invalidate_translations, invalidate_translations_of, reset};
pub use syndrome::{Access, Exit, SystemRegister, TrapResponse, is_wait};
pub use traps::{InterruptMode, Traps, vmpidr};
pub use world_switch::{
    Cause, FRAME_SIZE, Frame, FrameCell, enter, install_shared_vectors, repeat_instruction,
    skip_instruction, skip_word,
};
