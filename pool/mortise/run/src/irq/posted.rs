//! Delivery of posted interrupts.

use crate::gic::vm_interrupts::VmInterrupts;
use core_statistics::ExitKind;
use core_trace::Event;
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_machine::{Core, posted_irq::take, registry, trace};
use mortise_psci::FIRST_VCPU;
use mortise_state::interrupts::Interrupts;
use mortise_vcpu::{Cause, FrameCell};

/// Exit counter of interrupts on a core with a pinned vCPU.
pub(crate) const INTERRUPT: usize = ExitKind::Interrupt as usize;

/// Raises the posted interrupt for the pinned vCPU; its list registers are up to date after that.
#[inline(always)]
pub(crate) fn inject_posted_irq(core: &'static Core) {
    // Only VM extensions post interrupts.
    if registry::vm_extensions().is_empty() {
        return;
    }
    if let Some(intid) = take(&core.pinned.posted_intid)
        && let Some((vm, _)) = core.current_vcpu()
        && let Interrupts::Shared(gic) = &vm.interrupts
    {
        let machine = core.machine;
        let mut physical = VmInterrupts { machine, vm };
        // Interrupts are posted to the first vCPU.
        gic.lock().pulse_local(FIRST_VCPU, intid, &mut physical);
    }
}

/// Takes the SGI of posted interrupts, which is pending: the fast path, with x19 to x29 unchanged.
/// An order to the VM pends the doorbell, which is taken after that.
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
    // To acknowledge orders no accesses.
    hw_arch::barrier::dsb_sy();
    inject_posted_irq(core);
    core.pinned.count::<INTERRUPT>();
    core.check_entry();
    if trace::recorded() {
        core.record_return();
    }
    &core.pinned.frame
}
