//! A virtual CPU and its core's registers.
//!
//! - [`Frame`], [`FrameCell`] and [`enter`]: the general registers of the guest while
//!   its core is in Mortise, where they stand, and the way into the guest
//! - [`Exit`]: what brought the core to Mortise, decoded from the syndrome
//! - [`PinnedVcpu`]: one that has its core to itself, whose frequent exits are short
//! - [`Traps`]: which registers the guest owns and which trap; [`TrapResponse`]: what a
//!   trapped one is to it
//! - [`reset`]: the state in which a virtual CPU starts
//! - [`invalidate_translations`]: what makes a withdrawn stage 2 felt
//! - [`identity`]: what a shared core says that it has
//! - [`inject_undefined`]: an exception taken by the guest itself
//! - [`Context`], [`FloatingPoint`], [`Interface`]: what else of a virtual CPU is in its
//!   core's registers, to be exchanged where several share a core
//!
//! For a virtual CPU that has its core to itself, EL1's system registers, the FP
//! registers, the timer and, in direct mode, the interrupt controller's CPU
//! interface stay in the hardware: it shares them with nobody. An exit stores 31 registers and returns through
//! 16 load pairs; all else is the handler's.
//!
//! The image defines the functions that the vectors here call:
//! `mortise_exit(&mut Frame, Cause)`, which returns the frame of the guest that
//! goes on; `mortise_interrupted(&FrameCell) -> !`, of an interrupt of a 64-bit guest on a core that
//! several share; `mortise_pinned_exit`, the same as the first on a core that one virtual CPU has
//! to itself, which returns only with that one's frame and if it changed none of
//! x19 to x29 there; and `mortise_fault(u64) -> !`, which finds itself a stack.
#![no_std]
#![expect(unsafe_code, reason = "vectors and EL2 system registers")]

mod context;
mod exit_class;
mod fast_vectors;
mod floating_point;
mod id_registers;
mod inject;
mod interface;
mod reset;
mod syndrome;
mod trap_response;
mod traps;
mod world_switch;

pub use context::{ColdContext, Context, OptionalRegisters, has_pointer_auth, timer_deadline};
pub use exit_class::{ExitClass, word_access_ipa};
pub use fast_vectors::{ConstantReply, POSTED_SGI, PinnedVcpu, install_fast_vectors};
pub use floating_point::{FloatingPoint, FloatingPointTrap};
pub use id_registers::id_register;
pub use inject::inject_undefined;
pub use interface::{Interface, LrUsage, TimerIrq};
pub use reset::{invalidate_translations, invalidate_translations_of, reset};
pub use syndrome::{Access, Exit, SystemRegister, is_wait};
pub use trap_response::TrapResponse;
pub use traps::{InterruptMode, Traps, vmpidr};
pub use world_switch::{
    Cause, FRAME_SIZE, Frame, FrameCell, enter, install_shared_vectors, repeat_instruction,
    skip_instruction,
};
