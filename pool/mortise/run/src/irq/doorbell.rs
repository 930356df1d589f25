//! Doorbell of a core.

use super::posted::inject_posted_irq;
use core::sync::atomic::Ordering;
use core_trace::Event;
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_machine::{Core, registry};

/// Acknowledges the doorbell. What it announces is in the VM's power states or in its virtual GIC.
pub(crate) fn doorbell(core: &'static Core) {
    if let Some(chip) = registry::irqchip() {
        return core.acknowledge_doorbell_by(chip);
    }
    while let Some(intid) = cpu_interface::acknowledge(Group::Zero) {
        cpu_interface::end(Group::Zero, intid);
        core.record(Event::Enter, intid.into());
        core.record(Event::Leave, intid.into());
        if core.takes_guest_irqs() {
            cpu_interface::deactivate(intid);
        }
    }
    // To acknowledge orders no accesses: a load of what the doorbell announces could be performed
    // before it and find nothing, with the doorbell spent.
    hw_arch::barrier::dsb_sy();
    match core.dispatcher() {
        Some(_) => wake_pending_vms(core),
        None => inject_posted_irq(core),
    }
}

/// Passes what other cores announced to the scheduler of a shared core.
pub(crate) fn wake_pending_vms(core: &'static Core) {
    if let Some(dispatcher) = core.dispatcher() {
        let mut pending_vms = core.pending_vms.swap(0, Ordering::Acquire);
        while pending_vms != 0 {
            let index = pending_vms.trailing_zeros() as usize;
            pending_vms &= pending_vms - 1;
            if let Some(vm) = core.machine.vm(index) {
                core.wake_vcpu(dispatcher, vm);
            }
        }
    }
}

/// Passes one VM that another core announced to the scheduler of a shared core, or sends one of the
/// core's own [deferred IPIs](Core::send_pending_ipi); returns false if there is none. As long as
/// there are, the doorbell stays pending.
pub(crate) fn wake_one_pending_vm(core: &'static Core) -> bool {
    let pending_vms = core.pending_vms.load(Ordering::Acquire);
    let first = pending_vms & pending_vms.wrapping_neg();
    let (Some(dispatcher), 1..) = (core.dispatcher(), first) else {
        return core.send_pending_ipi();
    };
    core.pending_vms.fetch_and(!first, Ordering::AcqRel);
    if let Some(vm) = core.machine.vm(first.trailing_zeros() as usize) {
        core.wake_vcpu(dispatcher, vm);
    }
    true
}
