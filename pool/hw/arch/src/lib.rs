//! The AArch64 CPU.
//!
//! What differs between a kernel at EL1 and one at EL2 is behind one type
//! parameter, the [`ExceptionLevel`]; a crate that serves both kernels takes it
//! and never asks which one it has. Everything here is a short wrapper around
//! an instruction or a register, with no state and no allocation.
//!
//! - [`level`]: [`El1`] and [`El2`] and their banked registers
//! - [`entry`]: the first instructions of an image, up to Rust with MMU and
//!   caches on
//! - [`mmu`]: the change from one translation table to the next
//! - [`barrier`], [`cache`], [`cpu`]: barriers, cache maintenance, waiting and
//!   interrupt masks
//! - [`mmio`]: a frame of device registers
//! - [`firmware`]: PSCI calls to the firmware below
//! - [`registers`]: the registers that exist once, by name
//! - [`words`]: copies to and from memory that others change
//! - [`layout`]: where the parts of the running image are
//!
//! On the host, registers read as zero and instructions do nothing, so that
//! what stands above compiles and is tested there.
#![no_std]
#![expect(
    unsafe_code,
    reason = "instructions, system registers and the image entry"
)]

pub mod barrier;
pub mod cache;
pub mod cpu;
mod drop;
pub mod entry;
pub mod firmware;
pub mod layout;
pub mod level;
pub mod mark;
pub mod mmio;
pub mod mmu;
pub mod registers;
pub mod words;

pub use level::{El1, El2, ExceptionLevel};
