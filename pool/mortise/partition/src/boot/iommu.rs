//! Initialisation of the IOMMU.

use hw_irqchip_gicv3::Trigger;
use mortise_machine::{Machine, registry};
use mortise_state::priority::OWN_PRIORITY;

/// Initialises the IOMMU, if a VM owns PCI devices.
#[inline(always)]
pub(crate) fn open_iommu(machine: &'static Machine) -> Result<(), &'static str> {
    let Some(iommu) = registry::iommu() else {
        return Ok(());
    };
    let Some(owner) = machine.has_devices() else {
        return Ok(());
    };
    let board = &machine.board;
    if machine
        .vms()
        .any(|vm| vm.reaches(board.iommu_base, board.iommu_size))
    {
        return Err("somebody has the registers of the IOMMU");
    }
    let core = machine.cores.get(owner.cpu(0));
    if !owner.is_shared() || core.is_none_or(|core| core.dispatcher().is_some()) {
        return Err("who has PCI devices has shared interrupts, and its first CPU for itself");
    }
    let first = machine.next_frame();
    iommu.init(board.root_complex(), owner, machine.frames)?;
    machine
        .device_tables
        .call_once(|| first..machine.next_frame());
    let distributor = board.distributor();
    distributor.route(board.iommu_irq, board.affinity(owner.cpu(0)));
    distributor.set_priority(board.iommu_irq, OWN_PRIORITY);
    // Its interrupts are pulses (Arm IHI 0070, 3.18).
    distributor.set_trigger(board.iommu_irq, Trigger::Edge);
    distributor.enable(board.iommu_irq);
    Ok(())
}
