//! A virtual CPU pinned to its core.
//!
//! - [`Frame`] and [`enter`]: the general registers of the guest while its core
//!   is in Mortise, and the way into the guest
//! - [`Exit`]: what brought the core to Mortise, decoded from the syndrome
//! - [`Traps`]: which registers the guest owns and which trap; [`Role`]: what a
//!   trapped one is to it
//! - [`reset`]: the state in which a virtual CPU starts
//! - [`invalidate_translations`]: what makes a withdrawn stage 2 felt
//! - [`inject_undefined`]: an exception taken by the guest itself
//!
//! EL1's system registers, the FP registers, the timer and, in direct mode, the
//! interrupt controller's CPU interface stay in the hardware: a pinned virtual
//! CPU shares them with nobody. An exit stores 31 registers and returns through
//! 16 load pairs; all else is the handler's.
//!
//! The image defines two functions, `mortise_exit(&mut Frame, Cause)` and
//! `mortise_fault(u64) -> !`, which the vectors here call.
#![no_std]
#![expect(unsafe_code, reason = "vectors and EL2 system registers")]

mod inject;
mod reset;
mod role;
mod syndrome;
mod traps;
mod world;

pub use inject::inject_undefined;
pub use reset::{invalidate_translations, reset};
pub use role::Role;
pub use syndrome::{Access, Exit, SystemRegister};
pub use traps::{InterruptMode, Traps};
pub use world::{Cause, FRAME_SIZE, Frame, enter, install_vectors, skip_instruction};
