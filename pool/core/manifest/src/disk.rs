//! A disk in memory that Mortise has for a VM.

use crate::apart::{PHYSICAL, clash, has};
use crate::header::Tables;
use crate::vm::are_pages;
use crate::{Error, InterruptMode, Reserve, System, limits};
use core_memory::{IntermediateRange, PhysicalRange};
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// A disk of a VM's.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Disk {
    /// What is on it, whole pages that no VM reaches.
    pub memory: PhysicalRange,
    /// Where the VM sees the registers of its transport, [`limits::TRANSPORT`] bytes.
    pub registers: IntermediateRange,
    /// How many sectors of 512 bytes of that memory it has.
    pub sectors: u64,
    /// The virtual interrupt by which the VM is told.
    pub interrupt: u16,
    /// Whose it is, by its index in [`System::vms`]; a VM of shared interrupts.
    pub vm: u8,
    /// Whether it cannot be written.
    pub read_only: bool,
}

impl Disk {
    /// The disks of the manifest at the start of `bytes`, which `system` came from. Looked for by
    /// itself: an image without disks has no code for it.
    pub fn parse<'a>(bytes: &'a [u8], system: &System<'a>) -> Result<&'a [Self], Error<'a>> {
        let tables = Tables::open(bytes)?;
        let all: &[Self] = tables.all(limits::DISKS)?;
        let reserve = tables.find::<Reserve>()?;
        for (number, disk) in all.iter().enumerate() {
            disk.check(all.get(..number).unwrap_or_default(), system)?;
            let kept = reserve.map(|reserve| [reserve.memory, reserve.slots]);
            if kept.is_some_and(|kept| kept.iter().any(|range| range.overlaps(&disk.memory))) {
                return Err(clash(OF, "reserve", PHYSICAL));
            }
        }
        Ok(all)
    }

    fn check<'a>(&self, others: &[Self], system: &System<'a>) -> Result<(), Error<'a>> {
        let invalid = |field, must| {
            Err(Error::Invalid {
                of: OF,
                field,
                must,
            })
        };
        let vm = system.vms.get(usize::from(self.vm));
        let Some(vm) = vm.filter(|vm| vm.interrupt_mode == InterruptMode::Shared) else {
            return invalid("vm", "be one with shared interrupts");
        };
        if !are_pages(&self.memory) {
            return invalid("memory", "be whole pages");
        }
        if self.sectors == 0 || self.sectors > self.memory.size() / SECTOR {
            return invalid("sectors", "be in its memory");
        }
        if !self.registers.is_sound() || self.registers.size() != limits::TRANSPORT {
            return invalid("registers", "be those of a transport");
        }
        // Shared peripheral interrupts (GIC specification, 2.2).
        if !(32..1020).contains(&self.interrupt) || vm.interrupts.contains(&self.interrupt) {
            return invalid("interrupt", "be a free one from 32 to 1019");
        }
        let name = vm.name.as_str();
        let mut seen = vm.mappings.iter();
        if seen.any(|mapping| mapping.intermediate.overlaps(&self.registers)) {
            return Err(clash(OF, name, "address"));
        }
        if let Some(vm) = system.vms.iter().find(|vm| has(vm, &self.memory)) {
            return Err(clash(OF, vm.name.as_str(), PHYSICAL));
        }
        for other in others {
            if other.memory.overlaps(&self.memory) {
                return Err(clash(OF, OF, PHYSICAL));
            }
            if other.vm == self.vm && other.registers.overlaps(&self.registers) {
                return Err(clash(OF, OF, "address"));
            }
            if other.vm == self.vm && other.interrupt == self.interrupt {
                return Err(clash(OF, OF, "interrupt"));
            }
        }
        Ok(())
    }
}

const OF: &str = "disk";
/// Bytes of a sector (virtio 1.2, 5.2.4).
const SECTOR: u64 = 512;
