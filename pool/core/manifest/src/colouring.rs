//! By which colours VMs are kept apart in a cache that they share.

use crate::header::Tables;
use crate::vm::are_pages;
use crate::{Error, List, limits};
use core_memory::PhysicalRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Memory that is dealt out to VMs by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Colouring {
    /// That of which VMs have their own parts. Wherever the manifest says an address in it, it
    /// counts the pages of each part one behind the other (`core_colouring::Dealt`).
    pub memory: PhysicalRange,
    /// That of which each page is for the status or the translation tables of the VM that has its
    /// colour. Addresses in it are as the hardware has them.
    pub tables: PhysicalRange,
    /// The colours of each VM, one bit each; none if it has memory elsewhere.
    pub parts: List<u64, { limits::VMS }>,
    /// How many colours the cache has.
    pub colours: u32,
}

impl Colouring {
    /// That of the manifest at the start of `bytes`, if it has one. Looked for by itself: an image
    /// without colours has no code for it.
    pub fn parse(bytes: &[u8]) -> Result<Option<&Self>, Error<'_>> {
        let Some(colouring) = Tables::open(bytes)?.find::<Self>()? else {
            return Ok(None);
        };
        let invalid = |field, must| {
            Err(Error::Invalid {
                of: "colouring",
                field,
                must,
            })
        };
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
