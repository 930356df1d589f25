//! What the orchestrator tells Mortise at boot, parsed once into checked types.
//!
//! # Purpose
//!
//! What must be configured at boot comes from one place, a flattened device tree written by the
//! orchestrator: the [`System`] with its VMs, and what is [`Dynamic`] about it, which is parsed by
//! itself so that the image of a static system has no code for it, and what its VMs are
//! [`Lending`], or held back by ([`Regulation`]). Parsing is the edge: behind it all ranges are
//! page-aligned and free of overlap, all counts bounded, all keywords cases of an `enum`.
//!
//! # Guarantees
//!
//! - Any bytes give a value or an [`Error`], never a panic; the error names node and property.
//! - No allocation: VMs come to be in room that the caller has, [`Dynamic`] has less than 12 KiB, and names are borrowed.
//! - Time is linear in the tree but for the comparison of ranges with each other, whose numbers
//!   are bounded by [`limits`].
//!
//! # Example
//!
//! ```
//! # fn tree_at_boot() -> &'static [u8] { &[] }
//! let mut room = core_manifest::Room::<4>::new();
//! match core_manifest::System::parse(tree_at_boot(), &mut room) {
//!     Ok(system) => {
//!         for vm in system.vms {
//!             println!("{} on {} cores", vm.name, vm.cpus.len());
//!         }
//!     }
//!     Err(error) => println!("manifest: {error}"),
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod apart;
mod channel;
mod check;
mod colouring;
mod dynamic;
mod error;
mod lending;
mod node;
mod regulation;
mod schedule;
mod system;
mod template;
mod tree;
mod vlib;
mod vm;

pub use channel::{Channel, Owner, Party};
pub use colouring::Colouring;
pub use dynamic::{Authority, Dynamic, Reserve, Set};
pub use error::Error;
pub use lending::Lending;
pub use regulation::Regulation;
pub use schedule::{Reservation, Schedule};
pub use system::{Mode, Room, System};
pub use template::{Filling, Template};
pub use vlib::Vlib;
pub use vm::{
    Console, FaultPolicy, InterruptMode, Kind, Mapping, MappingKind, Payload, Vm, WaitPolicy,
};

/// How many bytes the manifest at the start of `bytes` has, by its first eight; none if it is none, and
/// [`limits::BYTES`] at most.
pub fn size(bytes: &[u8]) -> usize {
    tree::size(bytes).map_or(0, |size| size.min(limits::BYTES))
}

/// How much of everything a manifest may hold.
pub mod limits {
    /// Bytes of it.
    pub const BYTES: usize = 0x1_0000;
    /// VMs in a system.
    pub const VMS: usize = 8;
    /// vCPUs of a VM.
    pub const VCPUS: usize = 8;
    /// Memory, shared and device ranges of a VM, together.
    pub const MAPPINGS: usize = 16;
    /// Payloads copied into a VM at its start.
    pub const PAYLOADS: usize = 4;
    /// Interrupts passed through to a VM.
    pub const INTERRUPTS: usize = 32;
    /// VMs that are made on demand.
    pub const TEMPLATES: usize = 8;
    /// Channels in a system.
    pub const CHANNELS: usize = 16;
    /// vLibs in a system.
    pub const VLIBS: usize = 4;
    /// Bytes for the status page and the log ring of a VM made at run time.
    pub const SLOT: u64 = 0x2_0000;
    /// Bytes of a block, in which memory is given to VMs made at run time.
    pub const BLOCK: u64 = 0x20_0000;
    /// Bytes of a template's name, which a request brings in two registers.
    pub const REQUEST: usize = 16;
    /// Bytes of a VM's or a task's name.
    pub const NAME: usize = 32;
}
