//! Page colouring record: assignment of page colours to VMs.

use crate::tables::Tables;
use crate::vm::are_pages;
use crate::{Error, List, limits};
use core_memory::PhysicalRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Memory that is assigned to VMs by page colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Colouring {
    /// Memory of the VMs. Addresses of the manifest in this range count the pages of each VM
    /// consecutively (`core_colouring::ColouredMemory`).
    pub memory: PhysicalRange,
    /// Memory for status pages and translation tables; each page serves the VM with its colour.
    /// Addresses of the manifest in this range are physical addresses.
    pub tables: PhysicalRange,
    /// Colours of each VM, one bit per colour; 0 if its memory lies elsewhere.
    pub parts: List<u64, { limits::VMS }>,
    /// Number of colours of the cache.
    pub colours: u32,
}

impl Colouring {
    /// Colouring of the manifest at the start of `bytes`, if it has one. Parsed separately, so that an
    /// image without page colouring contains no code for it.
    pub fn parse(bytes: &[u8]) -> Result<Option<&Self>, Error<'_>> {
        let Some(colouring) = Tables::open(bytes)?.find::<Self>()? else {
            return Ok(None);
        };
        let invalid = |field, must| Err(Error::invalid("colouring", field, must));
        if !are_pages(&colouring.memory) {
            return invalid("memory", "be whole pages");
        }
        if !are_pages(&colouring.tables) || colouring.memory.overlaps(&colouring.tables) {
            return invalid("tables", "be whole pages, apart from memory");
        }
        if !colouring.parts.is_whole() {
            return invalid("parts", "be of up to 8 VMs");
        }
        Ok(Some(colouring))
    }
}
