//! Delivery of posted interrupts.

use crate::{
    gic::vm_interrupts::VmInterrupts,
    machine::{Core, interrupts::Interrupts, posted_irq::take, registry, trace},
};
use core_statistics::ExitKind;
use core_trace::Event;
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_psci::LEADER;
use mortise_vcpu::{Cause, FrameCell};

/// Exits of interrupts, as a core that one virtual CPU has to itself counts them.
pub(crate) const INTERRUPT: usize = ExitKind::Interrupt as usize;

/// Raises what was left for the vCPU here, whose list registers are right then.
#[inline(always)]
pub(crate) fn inject_posted_irq(core: &'static Core) {
    // Without a extension nobody leaves anything.
    if registry::vm_extensions().is_empty() {
        return;
    }
    if let Some(intid) = take(&core.resident.posted_intid)
        && let Some((vm, _)) = core.current_vcpu()
        && let Interrupts::Shared(gic) = &vm.interrupts
    {
        let machine = core.machine;
        let mut physical = VmInterrupts { machine, vm };
        // It is the first vCPU's core that is reached.
        gic.lock().pulse_local(LEADER, intid, &mut physical);
    }
}

/// Takes a notice, whose SGI is what this core would acknowledge: the short way, with x19 to x29 as
/// they were. An order to the VM has its doorbell behind it.
#[inline]
pub fn take_posted_irq() -> &'static FrameCell {
    let core = Core::current();
    if trace::recorded() {
        core.record_exit(Cause::Fiq);
    }
    let intid = cpu_interface::acknowledge_any(Group::Zero);
    core.record(Event::Enter, intid.into());
    core.record(Event::Leave, intid.into());
    cpu_interface::end(Group::Zero, intid);
    cpu_interface::deactivate(intid);
    core.check_exit(Cause::Fiq);
    // Acknowledging orders nothing by itself.
    hw_arch::barrier::dsb_sy();
    inject_posted_irq(core);
    core.resident.count::<INTERRUPT>();
    core.check_entry();
    if trace::recorded() {
        core.record_return();
    }
    &core.resident.frame
}
