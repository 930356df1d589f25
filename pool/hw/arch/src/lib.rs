//! AArch64 CPU: exception levels, system registers, image entry, MMU and caches.
//!
//! The difference between a kernel at EL1 and one at EL2 is one type parameter, the
//! [`ExceptionLevel`]; a crate that serves both kernels takes it and never tests which one it has.
//! All functions are short wrappers of an instruction or a register, without state or allocation.
//!
//! - [`level`]: [`El1`] and [`El2`] and their banked registers
//! - [`entry`]: entry of an image, up to Rust with MMU and caches on
//! - [`mmu`]: change of the translation table
//! - [`barrier`], [`cache`], [`cpu`]: barriers, cache maintenance, wait for interrupt and interrupt
//!   masks
//! - [`mmio`]: a frame of device registers; [`dma`]: that of a device that accesses memory
//! - [`firmware`]: PSCI calls to the firmware
//! - [`spin_table`]: start of cores by a table in memory
//! - [`registers`]: system registers that are not banked, by name
//! - [`words`]: copies from and to concurrently written memory
//! - [`layout`]: addresses of the sections of the running image
//!
//! On the host, registers read as zero and instructions do nothing, so that users of this crate can
//! be tested there.
#![no_std]
#![expect(
    unsafe_code,
    reason = "instructions, system registers and the image entry"
)]

pub mod barrier;
pub mod board;
pub mod cache;
pub mod cpu;
pub mod dma;
mod drop;
pub mod entry;
pub mod firmware;
pub mod layout;
pub mod level;
pub mod mark;
pub mod mmio;
pub mod mmu;
pub mod registers;
pub mod spin_table;
pub mod words;

#[cfg(feature = "repeat-tlbi")]
pub use hw_repeat_tlbi::broadcast_tlbi;
pub use level::{El1, El2, ExceptionLevel};
