//! By which colours VMs are kept apart in a cache that they share.

use crate::node::Node;
use crate::{Error, limits};
use core_memory::PhysicalRange;
use heapless::Vec;

/// Memory that is dealt out to VMs by colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colouring {
    /// That of which VMs have their own parts. Wherever the manifest says an address in it, it
    /// counts the pages of each part one behind the other (`core_colouring::Dealt`).
    pub memory: PhysicalRange,
    /// That of which each page is for the status or the translation tables of the VM that has its
    /// colour. Addresses in it are as the hardware has them.
    pub tables: PhysicalRange,
    /// How many colours the cache has.
    pub colours: u32,
    /// The colours of each VM, one bit each; none if it has memory elsewhere.
    pub parts: Vec<u64, { limits::VMS }>,
}

impl Colouring {
    /// That of the tree at the start of `bytes`, if it has one. Parsed by itself: an image without
    /// colours has no code for it.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Error<'_>> {
        let Some(node) = Node::root(bytes)?.find_child("colouring") else {
            return Ok(None);
        };
        let mut parts = Vec::new();
        for [part] in node.tuples("parts", [2])? {
            parts
                .push(part)
                .map_err(|_| node.too_many("parts", limits::VMS))?;
        }
        let colouring = Self {
            memory: node.range("memory")?,
            tables: node.range("tables")?,
            colours: node.number("colours")?,
            parts,
        };
        if colouring.memory.overlaps(&colouring.tables) {
            return Err(node.invalid("tables", "be apart from memory"));
        }
        Ok(Some(colouring))
    }
}
