//! Manifest: the configuration of a system, validated once at boot and used in place.
//!
//! # Purpose
//!
//! The orchestrator writes the boot configuration of Mortise as a manifest: tables of fixed-size
//! records without gaps (`docs/formats.md`). [`System::parse`] validates the system with its VMs.
//! Optional tables have parsers of their own: [`Dynamic`] (VMs made at run time, channels, vLibs),
//! [`Lending`] (lent cores), [`Colouring`] (page colours), [`Regulation`] (bandwidth regulation),
//! [`Disk`] and [`Port`] (networks). An image without such a feature contains no code for it. After validation, all ranges
//! are page-aligned and disjoint where they must be, all counts are bounded, and all keywords are
//! variants of an `enum`.
//!
//! # Guarantees
//!
//! - Any bytes yield a value or an [`Error`] that names the record and the field, never a panic.
//! - Nothing is decoded, copied or allocated: all results are references into the manifest.
//! - Validation takes linear time, except the pairwise comparison of ranges, which is bounded by
//!   [`limits`].
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

mod channel;
mod check;
mod colouring;
mod disjoint;
mod disk;
mod dynamic;
mod error;
mod lending;
mod list;
mod port;
mod records;
mod regulation;
mod reserve;
mod schedule;
mod system;
mod tables;
mod template;
mod vlib;
mod vm;

pub use channel::{Channel, Endpoint, Owner};
pub use colouring::Colouring;
pub use disk::{Disk, Store};
pub use dynamic::{Authority, Dynamic};
pub use error::Error;
pub use lending::Lending;
pub use list::{List, Name};
pub use port::Port;
pub use regulation::Regulation;
pub use reserve::{Reserve, Set};
pub use schedule::{Reservation, Schedule};
pub use system::{Mode, System};
pub use tables::size;
pub use template::{Template, TemplatePayload};
pub use vlib::Vlib;
pub use vm::{
    Console, FaultPolicy, InterruptMode, Kind, Mapping, MappingKind, Payload, Vm, WaitPolicy,
};

/// Upper bounds of a manifest.
pub mod limits {
    /// Bytes of a manifest.
    pub const BYTES: usize = 0x1_0000;
    /// VMs of a system.
    pub const VMS: usize = 8;
    /// vCPUs of a VM.
    pub const VCPUS: usize = 8;
    /// Mappings of a VM: memory, shared memory and devices together.
    pub const MAPPINGS: usize = 16;
    /// Payloads of a VM.
    pub const PAYLOADS: usize = 4;
    /// Interrupts passed through to a VM.
    pub const INTERRUPTS: usize = 32;
    /// Templates of a system.
    pub const TEMPLATES: usize = 8;
    /// Channels of a system.
    pub const CHANNELS: usize = 16;
    /// vLibs of a system.
    pub const VLIBS: usize = 4;
    /// Virtual disks of a system.
    pub const DISKS: usize = 8;
    /// Ports of the networks of a system.
    pub const PORTS: usize = 16;
    /// Bytes of the register area of a virtio transport.
    pub const TRANSPORT: u64 = 0x200;
    /// Bytes of a VM slot in the reserve: status page and log ring of a VM made at run time.
    pub const SLOT: u64 = 0x2_0000;
    /// Bytes of a block, the unit in which the reserve is allocated.
    pub const BLOCK: u64 = 0x20_0000;
    /// Bytes of a template's name, which a hypercall passes in two registers.
    pub const REQUEST: usize = 16;
    /// Bytes of a name.
    pub const NAME: usize = 32;
}
