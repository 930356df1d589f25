//! Stage 1 map of each core.
//!
//! Every core has its own map. It holds Mortise's code (read and execute), constants (read),
//! variables, the core's stack between two unmapped guard pages, and the devices that Mortise
//! drives; of the VMs on this core, the translation tables, the contexts of descheduled vCPUs, the
//! status page and the log ring; and what VM extensions need. Of other cores' VMs it has the
//! records by which cores communicate: no stack, no table, no context, and a stage 2 root only
//! through a window while its memory is withdrawn or restored. It has no guest memory except
//! through a window while that is filled.

use core::ops::Range;
use core_manifest::Console;
use core_memory::PhysicalRange;
use core_paging::{Access, Error, GuestMap, KernelMap, Use};
use hw_arch::{El2, layout};
use mortise_machine::{Core, colouring, registry};
use mortise_state::{
    board::{Board, GIC_FRAME},
    stacks::{PAGE, loaded_end},
};
use mortise_transfer::Transfer;

/// Gives this core, which does not run its guest yet, its own map with its tables, and with the
/// frames in `common`, as all cores have.
pub(crate) fn build_map(core: &'static Core, common: &Range<usize>) -> Result<(), Error> {
    let mut own = core.map.lock();
    let mut start = core.machine.next_frame();
    let map = own.insert(core_map(core, common)?);
    // To map the tables may allocate another one.
    while start < core.machine.next_frame() {
        let end = core.machine.next_frame();
        map.map(start, end - start, Use::Data)?;
        start = end;
    }
    // SAFETY: the map stays in this record permanently and is complete.
    let transfer = unsafe { Transfer::new(map, layout::image_start()) }?;
    core.transfer.call_once(|| transfer);
    Ok(())
}

/// Activates the map of this core, which must be the executing one; returns whether it has one.
pub(crate) fn activate_map(core: &Core) -> bool {
    let map = core.map.lock();
    if let Some(map) = &*map {
        // SAFETY: the map stays in this record permanently and contains, at the same addresses, all
        // memory that `core_map` lists.
        unsafe { map.activate() };
    }
    map.is_some()
}

/// Builds the map of `core`, with the frames in `common`, as all cores have.
fn core_map(core: &'static Core, common: &Range<usize>) -> Result<KernelMap<El2>, Error> {
    let machine = core.machine;
    let (board, stacks) = (&machine.board, (machine.stacks)());
    let schedulers = registry::dispatcher().map(|dispatcher| dispatcher.records());
    let mut map = KernelMap::new(machine.frames);
    map.map_image()?;
    let apart = [
        Some(stacks.all()),
        Some((machine.frame_room)()),
        schedulers.map(|schedulers| schedulers.all()),
    ];
    let (mut at, image_end) = (layout::rodata_end(), layout::image_end());
    while at < image_end {
        let behind = apart.iter().flatten().filter(|range| range.start >= at);
        let next = behind.min_by_key(|range| range.start);
        let (end, then) = next.map_or((image_end, image_end), |range| (range.start, range.end));
        map.map(at, end - at, Use::Data)?;
        at = then;
    }
    let stack = stacks.of(core.cpu);
    map.map(stack.start + PAGE, stack.len() - PAGE, Use::Data)?;
    if let Some(schedulers) = schedulers.filter(|_| core.dispatcher().is_some()) {
        let own = schedulers.of(core.cpu);
        map.map(own.start, own.len(), Use::Data)?;
    }
    map.map(common.start, common.len(), Use::Data)?;
    map.map(image_end, loaded_end() - image_end, Use::Constants)?;
    map.map(board.gicd_base, board.gicd_size, Use::Device)?;
    if registry::irqchip().is_some() {
        map.map(board.gicc_base, board.gicc_size, Use::Device)?;
    } else {
        for cpu in 0..machine.cores.len() {
            let frames = board.gicr_base + cpu * board.gicr_stride;
            map.map(frames, 2 * GIC_FRAME, Use::Device)?;
        }
    }
    let uart_size = board.uart_size.next_multiple_of(PAGE);
    map.map(board.uart_base, uart_size, Use::Device)?;

    let console_core = machine.console_core() == Some(core.cpu);
    for vm in machine.vms() {
        let own = vm.vcpu_on(core.cpu).is_some();
        if own {
            map_range(&mut map, vm.description().status, Use::Data)?;
            map.map(vm.tables.start, vm.tables.len(), Use::Data)?;
            if colouring::frames(vm.index).is_some() {
                // The table is not in Mortise's own memory, but a withdrawal changes it.
                map.map(vm.stage2.root(), PAGE, Use::Data)?;
            }
        }
        if let Console::Ring(ring) = vm.description().console
            && (own || console_core)
        {
            map_range(&mut map, ring, Use::Data)?;
        }
    }
    map_iommu(core, &mut map)?;
    map_extensions(core, &mut map)?;
    Ok(map)
}

/// Maps what the VM extensions need on a core.
#[inline(always)]
fn map_extensions(core: &'static Core, map: &mut KernelMap<El2>) -> Result<(), Error> {
    let mut reached = Ok(());
    for extension in registry::vm_extensions() {
        extension.memory_ranges(core, &mut |range| {
            reached = reached.and_then(|()| map_range(map, range, Use::Data));
        });
        extension.register_pages(core, &mut |page| {
            let (start, size) = (page.start() as usize, page.size() as usize);
            reached = reached.and_then(|()| map.map(start, size, Use::Device));
        });
    }
    reached
}

fn map_range(map: &mut KernelMap<El2>, range: PhysicalRange, purpose: Use) -> Result<(), Error> {
    colouring::pieces(range, |done, place, size| {
        let start = range.start() + done;
        map.map_to(start as usize, place as usize, size as usize, purpose)
    })
}

/// Builds the stage 2 translation of a VM.
pub(crate) fn guest_map(
    frames: &'static dyn core_paging::Frames,
    description: &core_manifest::Vm,
    board: &Board,
) -> Result<GuestMap, Error> {
    use core_manifest::MappingKind;
    let mut map = GuestMap::new(frames)?;
    if registry::irqchip().is_some() {
        // The CPU interface of the core that runs the VM, except GICC_DIR, which is a page further.
        map.map(board.gicc_base, board.gicc_base, PAGE, Access::Device)?;
    }
    for mapping in &description.mappings {
        let access = match mapping.kind {
            MappingKind::Ram => Access::Full,
            MappingKind::Shared { writable: true } | MappingKind::Area => Access::ReadWrite,
            MappingKind::Shared { writable: false } => Access::ReadOnly,
            MappingKind::Device => Access::Device,
        };
        let (from, to) = (mapping.intermediate, mapping.physical);
        colouring::pieces(to, |done, place, size| {
            let ipa = from.start() + done;
            map.map(ipa as usize, place as usize, size as usize, access)
        })?;
    }
    Ok(map)
}

/// Maps the registers and tables of the IOMMU, on the core of its owner's first vCPU.
#[inline(always)]
pub(crate) fn map_iommu(core: &Core, map: &mut KernelMap<El2>) -> Result<(), Error> {
    if registry::iommu().is_some()
        && let Some(owner) = core.machine.has_devices()
        && owner.cpu(0) == core.cpu
    {
        let board = &core.machine.board;
        map.map(board.iommu_base, board.iommu_size, Use::Device)?;
        map.map(board.pci_base, board.pci_size, Use::Device)?;
        if let Some(tables) = core.machine.device_tables.get() {
            map.map(tables.start, tables.len(), Use::Data)?;
        }
    }
    Ok(())
}
