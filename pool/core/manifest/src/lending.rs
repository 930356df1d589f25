//! Core lending record: the cores that a VM lends to its programs.

use crate::tables::Tables;
use crate::vm::are_pages;
use crate::{Error, InterruptMode, List, MappingKind, System, Vm, limits};
use core_memory::{IntermediateRange, PAGE_SIZE, PhysicalRange};
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Cores that a VM lends, and the cells by which it exchanges orders with Mortise.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Lending {
    /// IPA of the cells: one page for each entry of `vcpus`, in the same order.
    pub cells: IntermediateRange,
    /// Physical memory of the cells. Mapped by no other VM.
    pub memory: PhysicalRange,
    /// The vCPUs that may lend their cores. Each core belongs to this VM alone, and vCPU 0 is not
    /// among them. If the list is empty, the other fields are ignored.
    pub vcpus: List<u8, { limits::VCPUS }>,
    /// Virtual interrupt that signals a change in a cell.
    pub interrupt: u16,
}

impl Lending {
    /// Lending record of each VM of [`System::vms`], in the same order, from the manifest at the start
    /// of `bytes`, from which `system` was parsed; empty if no VM lends a core. Parsed separately, so
    /// that an image without lending contains no code for it.
    pub fn parse<'a>(bytes: &'a [u8], system: &System<'a>) -> Result<&'a [Self], Error<'a>> {
        let all: &[Self] = Tables::open(bytes)?.of_vms(system.vms.len())?;
        for (lending, vm) in all.iter().zip(system.vms) {
            lending.check(vm, system)?;
        }
        Ok(all)
    }

    /// The cell of a vCPU: its IPA and its physical page.
    pub fn cell(&self, vcpu: usize) -> Option<(u64, PhysicalRange)> {
        let place = self
            .vcpus
            .iter()
            .position(|&own| usize::from(own) == vcpu)?;
        let offset = place as u64 * PAGE_SIZE;
        let page = PhysicalRange::new(self.memory.start() + offset, PAGE_SIZE)?;
        Some((self.cells.start() + offset, page))
    }

    fn check<'a>(&self, vm: &'a Vm, system: &System<'a>) -> Result<(), Error<'a>> {
        let invalid = |field, must| Err(Error::invalid(vm.name.as_str(), field, must));
        if !self.vcpus.is_whole() {
            return invalid("lends", "be up to 8 vCPUs");
        }
        if self.vcpus.is_empty() {
            return Ok(());
        }
        if vm.interrupt_mode != InterruptMode::Shared {
            return invalid("lends", "be of a VM with shared interrupts");
        }
        for (index, vcpu) in self.vcpus.iter().enumerate() {
            let twice = self.vcpus.iter().take(index).any(|other| other == vcpu);
            let cpu = vm.cpus.get(usize::from(*vcpu));
            let takers = system
                .vms
                .iter()
                .filter(|vm| cpu.is_some_and(|cpu| vm.cpus.contains(cpu)));
            // Mortise does its work for the VM on the VM's first core.
            if twice || *vcpu == 0 || takers.count() != 1 {
                return invalid(
                    "lends",
                    "be vCPUs whose CPUs are the VM's alone, but not its first",
                );
            }
        }
        let shared = vm.mappings.iter().any(|mapping| {
            mapping.kind == MappingKind::Shared { writable: true }
                && mapping.physical == self.memory
                && mapping.intermediate == self.cells
        });
        let pages = self.vcpus.len() as u64 * PAGE_SIZE;
        if !are_pages(&self.memory) || !shared || self.memory.size() != pages {
            return invalid("cells", "be a page for each vCPU, shared and writable");
        }
        let mappings = system.vms.iter().flat_map(|vm| &vm.mappings);
        let reaching = mappings.filter(|mapping| mapping.physical.overlaps(&self.memory));
        if reaching.count() != 1 {
            return invalid("cells", "be out of others' reach");
        }
        // SPIs (GIC specification, 2.2).
        if !(32..1020).contains(&self.interrupt) || vm.interrupts.contains(&self.interrupt) {
            return invalid("interrupt", "be a free one from 32 to 1019");
        }
        Ok(())
    }
}
