//! Page colouring: cache partitions for VMs, by pages of their own colours for memory and translation
//! tables.
//!
//! # Purpose
//!
//! VMs on different cores share the last level of cache, in which each can evict the lines of
//! others (TenonOS, section 4.4.2). A system may give its VMs page colours. Each then has pages of
//! its own colours only: RAM, log ring and shared areas come from the [coloured
//! memory](core_colouring::ColouredMemory), its status page and translation tables from pages of some of
//! its colours outside that memory.
//!
//! # Guarantees
//!
//! - The manifest is checked again before any VM is made: coloured memory does not overlap
//!   Mortise, a VM with colours has no memory but its own part, and no VM maps a page of the
//!   tables' range but its own status page, read-only.
//! - Colours are used when Mortise maps, fills and scrubs memory, at starts and restarts, and never
//!   by an exit. Frames of tables come from a fixed range, page by page, and are never freed.
//! - Code, variables and stacks of Mortise have all colours.

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "frames for translation tables are reached by their physical addresses"
)]

mod supply;

use core_colouring::ColouredMemory;
use core_manifest::{Colouring, Mapping, MappingKind, System, Vm, limits};
use core_memory::PhysicalRange;
use core_paging::Frames;
use hw_arch::layout;
use spin::Once;
use supply::Supply;

/// Memory that the system deals out by colour.
pub struct Colours {
    coloured: Once<ColouredMemory>,
    supplies: [Once<Supply>; limits::VMS],
}

/// Colours of this image's system.
pub static COLOURS: Colours = Colours {
    coloured: Once::new(),
    supplies: [const { Once::new() }; limits::VMS],
};

impl mortise_partition::Colouring for Colours {
    fn init(
        &'static self,
        system: &'static System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str> {
        let parsed = Colouring::parse(manifest).map_err(|_| "its colouring is malformed")?;
        let Some(colouring) = parsed else {
            return Ok(());
        };
        let image = layout::image_start() as u64;
        let end = mortise_partition::loaded_end() as u64;
        let image = PhysicalRange::new(image, end - image).ok_or("the image has no end")?;
        let coloured = check(colouring, system.vms, &image)?;
        for ((supply, &colours), vm) in self.supplies.iter().zip(&colouring.parts).zip(system.vms) {
            if colours != 0 {
                let status = vm.status.start();
                supply.call_once(|| {
                    Supply::new(colouring.tables, colouring.colours, colours, status)
                });
            }
        }
        self.coloured.call_once(|| coloured);
        Ok(())
    }

    fn place(&self, address: u64) -> (u64, u64) {
        match self.coloured.get() {
            Some(coloured) => coloured.place(address),
            None => (address, u64::MAX - address),
        }
    }

    fn frames(&'static self, vm: usize) -> Option<&'static dyn Frames> {
        let supply: &'static Supply = self.supplies.get(vm)?.get()?;
        Some(supply)
    }
}

/// Checks that the parts of VMs are separate from each other and from Mortise's image.
fn check(
    colouring: &Colouring,
    vms: &[Vm],
    image: &PhysicalRange,
) -> Result<ColouredMemory, &'static str> {
    let (memory, tables) = (&colouring.memory, &colouring.tables);
    let (base, size) = (memory.start(), memory.size());
    let coloured = ColouredMemory::new(base, size, colouring.colours, &colouring.parts)
        .ok_or("colours overlap or are too many")?;
    if memory.overlaps(image) || tables.overlaps(image) {
        return Err("coloured memory overlaps Mortise");
    }
    for (index, vm) in vms.iter().enumerate() {
        let part = coloured.part(index);
        let part = part.and_then(|(start, size)| PhysicalRange::new(start, size));
        let own = |mapping: &Mapping| is_own(mapping, vm, part.as_ref(), colouring);
        if !vm.mappings.iter().all(own) {
            return Err("a virtual machine has memory of other colours than its own");
        }
        let mut sources = vm.payloads.iter().map(|payload| payload.source);
        if sources.any(|source| source.overlaps(memory) || source.overlaps(tables)) {
            return Err("a payload is in memory that it deals out");
        }
    }
    Ok(coloured)
}

/// Whether a VM with this part of the memory may have this mapping.
fn is_own(mapping: &Mapping, vm: &Vm, part: Option<&PhysicalRange>, colouring: &Colouring) -> bool {
    let range = &mapping.physical;
    let read_only = mapping.kind == MappingKind::Shared { writable: false };
    match part {
        _ if mapping.kind == MappingKind::Device => !range.overlaps(&colouring.memory),
        Some(part) if part.contains(range) => true,
        Some(_) => read_only && *range == vm.status,
        None => !range.overlaps(&colouring.memory) && !range.overlaps(&colouring.tables),
    }
}

#[cfg(test)]
mod tests;
