//! Cores that a VM lends to its programs.

use crate::header::Tables;
use crate::vm::are_pages;
use crate::{Error, InterruptMode, List, MappingKind, System, Vm, limits};
use core_memory::{IntermediateRange, PAGE_SIZE, PhysicalRange};
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// What a VM lends, and by what it and Mortise talk about that.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Lending {
    /// A page for each vCPU, in their order, where the VM sees it.
    pub cells: IntermediateRange,
    /// Where that is. No other VM reaches it.
    pub memory: PhysicalRange,
    /// The vCPUs whose cores it may lend; none, and the rest means nothing. Each core is the VM's
    /// alone, and none is the first.
    pub vcpus: List<u8, { limits::VCPUS }>,
    /// The virtual interrupt by which it is told.
    pub interrupt: u16,
}

impl Lending {
    /// What each VM of [`System::vms`] lends, in their order, from the manifest at the start of
    /// `bytes`, which `system` came from; none if nobody lends anything. Looked for by itself: an
    /// image where nobody does has no code for it.
    pub fn parse<'a>(bytes: &'a [u8], system: &System<'a>) -> Result<&'a [Self], Error<'a>> {
        let all: &[Self] = Tables::open(bytes)?.of_vms(system.vms.len())?;
        for (lending, vm) in all.iter().zip(system.vms) {
            lending.check(vm, system)?;
        }
        Ok(all)
    }

    /// The page of a vCPU: where the VM sees it, and where it is.
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
        let invalid = |field, must| {
            Err(Error::Invalid {
                of: vm.name.as_str(),
                field,
                must,
            })
        };
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
            // The first core is Mortise's for what it does for the VM.
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
        // Shared peripheral interrupts (GIC specification, 2.2).
        if !(32..1020).contains(&self.interrupt) || vm.interrupts.contains(&self.interrupt) {
            return invalid("interrupt", "be a free one from 32 to 1019");
        }
        Ok(())
    }
}
