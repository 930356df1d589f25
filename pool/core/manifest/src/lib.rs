//! What the orchestrator tells a kernel at boot, parsed once into checked types.
//!
//! # Purpose
//!
//! What must be configured at boot comes from one place, a flattened device tree written by the
//! orchestrator: the [`System`] with its VMs for Mortise, the [`Guest`] for Tenon. Parsing is the
//! edge: behind it all ranges are page-aligned and free of overlap, all counts bounded, all
//! keywords cases of an `enum`.
//!
//! # Guarantees
//!
//! - Any bytes give a value or an [`Error`], never a panic; the error names node and property.
//! - No allocation. The result has a fixed size ([`System`] below 12 KiB) and borrows only names.
//! - Time is linear in the tree but for the comparison of ranges with each other, whose numbers
//!   are bounded by [`limits`].
//!
//! # Example
//!
//! ```
//! # fn tree_at_boot() -> &'static [u8] { &[] }
//! match core_manifest::System::parse(tree_at_boot()) {
//!     Ok(system) => {
//!         for vm in &system.vms {
//!             println!("{} on {} cores", vm.name, vm.cpus.len());
//!         }
//!     }
//!     Err(error) => println!("manifest: {error}"),
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod check;
mod error;
mod guest;
mod node;
mod system;
mod vm;

pub use error::Error;
pub use guest::{Guest, Task};
pub use system::System;
pub use vm::{
    Console, FaultPolicy, InterruptMode, Kind, Mapping, MappingKind, Payload, Vm, WaitPolicy,
};

/// How much of everything a manifest may hold.
pub mod limits {
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
    /// Periodic tasks of a guest.
    pub const TASKS: usize = 8;
    /// Bytes of a VM's or a task's name.
    pub const NAME: usize = 32;
}

/// The tree at the start of `bytes`, which may be longer than the tree.
fn tree(bytes: &[u8]) -> Result<dtoolkit::fdt::Fdt<'_>, Error<'_>> {
    // The header's second field is the size of the whole (Devicetree Specification, 5.2).
    let size = bytes
        .get(4..8)
        .and_then(|field| <[u8; 4]>::try_from(field).ok());
    let size = size.map_or(0, u32::from_be_bytes) as usize;
    let bytes = bytes.get(..size).unwrap_or(bytes);
    dtoolkit::fdt::Fdt::new(bytes).map_err(Error::Tree)
}
