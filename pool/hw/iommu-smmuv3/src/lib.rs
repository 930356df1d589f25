//! Arm SMMUv3, the translation unit between devices and memory (Arm IHI 0070).
//!
//! # Purpose
//!
//! Each memory access of a device carries a stream number. A [linear table](Memory) translates each
//! stream, all by one [context](Context), or aborts it. Accesses that a translation denies are
//! recorded in the event queue.
//!
//! # Guarantees
//!
//! - From [`Smmu::open`] on, a stream is aborted until it is translated. Before, the configuration
//!   of the firmware applies, so that `open` is called before any device may access memory.
//! - [`Smmu::switch`] returns when the SMMU uses the new configuration for every access, with
//!   accesses by the old one complete (IHI 0070, 3.21 and 4.6.3).
//! - A wait polls a register at most [`POLL_LIMIT`] times, then fails with an [`Error`].
//! - No lock: one core at a time.
//!
//! # Example
//!
//! ```no_run
//! use hw_iommu_smmuv3::{Context, Error, Frame, Memory, Smmu, Stage};
//!
//! fn protect(registers: Frame, memory: &'static mut Memory, root: u64) -> Result<(), Error> {
//!     let mut smmu = Smmu::open(registers, memory)?;
//!     let context = Context { stage: smmu.stage(), root, address_bits: 39 };
//!     smmu.set_context(&context);
//!     smmu.switch(true)?;
//!     while let Some(event) = smmu.next_event() {
//!         println!("stream {} was denied {:#x}", event.stream, event.address);
//!     }
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod command;
mod context;
mod event;
mod registers;
mod smmu;
mod streams;

/// Its registers, two pages of 64 KiB.
pub use hw_arch::dma::Frame;

pub use context::{Context, Stage};
pub use event::{Denied, Event};
pub use hw_arch::mmio::Registers;
pub use registers::Registers64;
pub use smmu::{Memory, POLL_LIMIT, Smmu};
pub use streams::STREAMS;

/// Reason why an SMMU cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It lacks a required translation stage, table or queue format.
    Unfit,
    /// It is not coherent with the caches, so that tables would have to be cleaned.
    Incoherent,
    /// It did not respond.
    Silent,
}

impl Error {
    /// Text of the error.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unfit => "the SMMU has not what it takes to protect memory",
            Self::Incoherent => "the SMMU does not see the caches",
            Self::Silent => "the SMMU does not answer",
        }
    }
}
