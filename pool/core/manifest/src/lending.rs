//! Cores that a VM lends to its programs.

use crate::node::Node;
use crate::{Error, InterruptMode, MappingKind, System, Vm, limits};
use core_memory::{IntermediateRange, PAGE_SIZE, PhysicalRange};
use heapless::Vec;

/// What a VM lends, and by what it and Mortise talk about that.
#[derive(Clone, Debug)]
pub struct Lending {
    /// The vCPUs whose cores it may lend. Each core is the VM's alone, and none is the first.
    pub vcpus: Vec<u8, { limits::VCPUS }>,
    /// A page for each of them, in their order, where the VM sees it.
    pub cells: IntermediateRange,
    /// Where that is. No other VM reaches it.
    pub memory: PhysicalRange,
    /// The virtual interrupt by which it is told.
    pub interrupt: u16,
}

impl Lending {
    /// What each VM of [`System::vms`] lends, from the tree at the start of `bytes`, which `system`
    /// came from. Parsed by itself: an image where nobody lends anything has no code for it.
    pub fn parse<'a>(
        bytes: &'a [u8],
        system: &System<'a>,
    ) -> Result<[Option<Self>; limits::VMS], Error<'a>> {
        let mut all = [const { None }; limits::VMS];
        let nodes = Node::root(bytes)?.child("vms")?.children();
        for ((node, vm), lending) in nodes.zip(system.vms).zip(&mut all) {
            *lending = lends(&node, vm, system)?;
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
}

fn lends<'a>(
    node: &Node<'a>,
    vm: &Vm<'a>,
    system: &System<'a>,
) -> Result<Option<Lending>, Error<'a>> {
    let cpus: Vec<u8, { limits::VCPUS }> = node.numbers("lends", "be small numbers")?;
    if cpus.is_empty() {
        return Ok(None);
    }
    if vm.interrupt_mode != InterruptMode::Shared {
        return Err(node.invalid("lends", "be of a VM with shared interrupts"));
    }
    let mut vcpus = Vec::new();
    for (index, cpu) in cpus.iter().enumerate() {
        let own = vm.cpus.iter().position(|own| own == cpu);
        // The first core is Mortise's for what it does for the VM.
        let own = own.filter(|&vcpu| vcpu > 0 && !cpus.iter().take(index).any(|it| it == cpu));
        let takers = system.vms.iter().filter(|vm| vm.cpus.contains(cpu));
        let (Some(vcpu), 1) = (own, takers.count()) else {
            let must = "name CPUs that are the VM's alone, but not its first";
            return Err(node.invalid("lends", must));
        };
        // No VM has more than `VCPUS`, which is what there is room for.
        let _fits = vcpus.push(vcpu as u8);
    }
    let memory: PhysicalRange = node.range("lends-cells")?;
    let cells = vm.mappings.iter().find(|mapping| {
        mapping.kind == MappingKind::Shared { writable: true } && mapping.physical == memory
    });
    let Some(cells) = cells.filter(|_| memory.size() == vcpus.len() as u64 * PAGE_SIZE) else {
        return Err(node.invalid("lends-cells", "be a page for each CPU, shared and writable"));
    };
    let reached = |mapping: &&crate::Mapping| mapping.physical.overlaps(&memory);
    let mappings = system.vms.iter().flat_map(|vm| &vm.mappings);
    if mappings.filter(reached).count() != 1 {
        return Err(node.invalid("lends-cells", "be out of others' reach"));
    }
    let interrupt = node.number("lends-interrupt")?;
    let free = u16::try_from(interrupt)
        .ok()
        // Shared peripheral interrupts (GIC specification, 2.2).
        .filter(|number| (32..1020).contains(number) && !vm.interrupts.contains(number));
    Ok(Some(Lending {
        vcpus,
        cells: cells.intermediate,
        memory,
        interrupt: free.ok_or(node.invalid("lends-interrupt", "be a free one from 32 to 1019"))?,
    }))
}
