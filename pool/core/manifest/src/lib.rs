//! What the orchestrator tells Mortise at boot, checked once and used where it lies.
//!
//! # Purpose
//!
//! What must be configured at boot comes from one place, a manifest written by the orchestrator:
//! fixed records in tables one behind the other (`docs/formats.md`). The [`System`] with its VMs is
//! checked in one pass; what is [`Dynamic`] about it, what its VMs are [`Lending`], by which colours
//! they are kept apart ([`Colouring`]) or by what held back ([`Regulation`]), each by itself, so that
//! an image without that has no code for it. Checking is the edge: behind it all ranges are
//! page-aligned and free of overlap, all counts bounded, all keywords cases of an `enum`.
//!
//! # Guarantees
//!
//! - Any bytes give a value or an [`Error`], never a panic; the error names record and field.
//! - Nothing is decoded, copied or allocated: what is given out are references into the bytes.
//! - Time is linear in the manifest but for the comparison of ranges with each other, whose numbers
//!   are bounded by [`limits`].
//!
//! # Example
//!
//! ```
//! # fn bytes_at_boot() -> &'static [u8] { &[] }
//! match core_manifest::System::parse(bytes_at_boot()) {
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
mod disk;
mod dynamic;
mod error;
mod header;
mod lending;
mod list;
mod regulation;
mod schedule;
mod system;
mod template;
mod vlib;
mod vm;

pub use channel::{Channel, Owner, Party};
pub use colouring::Colouring;
pub use disk::{Disk, Store};
pub use dynamic::{Authority, Dynamic, Reserve, Set};
pub use error::Error;
pub use header::size;
pub use lending::Lending;
pub use list::{List, Name};
pub use regulation::Regulation;
pub use schedule::{Reservation, Schedule};
pub use system::{Mode, System};
pub use template::{Filling, Template};
pub use vlib::Vlib;
pub use vm::{
    Console, FaultPolicy, InterruptMode, Kind, Mapping, MappingKind, Payload, Vm, WaitPolicy,
};

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
    /// Disks of VMs in a system.
    pub const DISKS: usize = 8;
    /// Bytes of the registers of a virtio transport.
    pub const TRANSPORT: u64 = 0x200;
    /// Bytes for the status page and the log ring of a VM made at run time.
    pub const SLOT: u64 = 0x2_0000;
    /// Bytes of a block, in which memory is given to VMs made at run time.
    pub const BLOCK: u64 = 0x20_0000;
    /// Bytes of a template's name, which a request brings in two registers.
    pub const REQUEST: usize = 16;
    /// Bytes of a VM's or a task's name.
    pub const NAME: usize = 32;
}
