//! The Arm SMMUv3, which stands between devices and memory (Arm IHI 0070).
//!
//! # Purpose
//!
//! Each access of a device to memory carries the number of its stream. A [linear table](Streams) says for
//! each stream that it is translated, by one [context](Context) for all of them, or aborted. What
//! a translation has no place for ends in the queue of events.
//!
//! # Guarantees
//!
//! - From [`Smmu::open`] on, a stream is aborted until it is let through. Before, whatever the firmware
//!   left holds, so it is called before any device may access memory.
//! - [`Smmu::switch`] returns when the SMMU uses the new configuration for every access: what was on its
//!   way by the old one is done (IHI 0070, 3.21 and 4.6.3).
//! - No wait is longer than [`PATIENCE`] looks at a register; who waited so long has an [`Error`].
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

/// Where its registers are, two pages of 64 KiB.
pub use hw_arch::mmio::Mmio as Frame;

pub use context::{Context, Stage};
pub use event::{Denied, Event};
pub use registers::Registers;
pub use smmu::{Memory, PATIENCE, Smmu};
pub use streams::STREAMS;

/// Why an SMMU cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It has no translation, no table or no queue of the kind that is needed here.
    Unfit,
    /// It does not see the caches, so that what is written for it would have to be cleaned.
    Incoherent,
    /// It did not answer.
    Silent,
}

impl Error {
    /// It in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unfit => "the SMMU has not what it takes to protect memory",
            Self::Incoherent => "the SMMU does not see the caches",
            Self::Silent => "the SMMU does not answer",
        }
    }
}
