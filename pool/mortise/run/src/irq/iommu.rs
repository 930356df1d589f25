//! Interrupt of the IOMMU.

use mortise_machine::{Core, registry};

/// Handles an interrupt of the IOMMU; returns false for any other one. Events that exceed one
/// interrupt's bound are left for the next.
#[inline(always)]
pub(crate) fn handle_iommu_irq(core: &'static Core, intid: u32) -> bool {
    let Some(iommu) = registry::iommu() else {
        return false;
    };
    let machine = core.machine;
    if intid != machine.board.iommu_irq {
        return false;
    }
    hw_irqchip_gicv3::cpu_interface::deactivate(intid);
    if let Some(owner) = machine.has_devices()
        && iommu.report_events(machine, owner)
    {
        machine.board.distributor().set_pending(intid, true);
    }
    true
}
