//! Delivery of interrupts that are taken to EL2.
//!
//! Group 0 holds the doorbell, on every core, and the SGI of [posted
//! interrupts](crate::irq::posted). Group 1 is taken to EL2 only on cores of VMs with shared
//! interrupts: Mortise's own interrupts (console, timer, maintenance), and those that a guest gets
//! through a list register, at once or, on a shared core, when its vCPU is current.

use super::{doorbell::doorbell, iommu::handle_iommu_irq};
use crate::{
    console,
    gic::{
        list_registers::list_timer,
        vm_interrupts::{VmInterrupts, inject_listed, refresh},
    },
};
use core_trace::Event;
use hw_arch::{El2, ExceptionLevel, cpu};
use hw_irqchip_gicv3::{FIRST_SPI, Group, cpu_interface, is_special};
use mortise_machine::{Core, Vm, interface::WakeReason};
use mortise_state::options;
use mortise_vcpu::TimerIrq;

/// Whether the core is to end this exit early, as a pending interrupt is for a more urgent vCPU or
/// one that the current vCPU does not mask.
pub(crate) fn interrupts_guest(core: &'static Core) -> impl Fn() -> bool {
    // I and F have the same places in SPSR_EL2 and in ISR_EL1.
    let taken = !El2::read_spsr();
    move || core.preemption_pending() || cpu::pending_interrupts() & taken != 0
}

/// Takes one Group 1 interrupt of a core with the vCPU that is current on it, if any; returns false
/// if none is pending.
pub(crate) fn shared(core: &'static Core, current: Option<(&'static Vm, usize)>) -> bool {
    // Without virtual devices all of Group 1 belongs to VMs.
    options::virtual_devices() && taken(core, current, cpu_interface::acknowledge_any(Group::One))
}

/// Handles an interrupt that is acknowledged already.
pub fn taken(core: &'static Core, current: Option<(&'static Vm, usize)>, intid: u32) -> bool {
    let is_one = options::virtual_devices() && !is_special(intid);
    if is_one {
        cpu_interface::end(Group::One, intid);
        deliver(core, current, intid);
    }
    is_one
}

/// Handles an acknowledged Group 1 interrupt.
///
/// On a shared core an SPI is only passed to the scheduler, for the current vCPU too, and listed
/// later: a more urgent interrupt may be pending by then. Private interrupts always belong to the
/// current vCPU: no other timer counts.
#[inline(never)]
pub(crate) fn deliver(core: &'static Core, current: Option<(&'static Vm, usize)>, intid: u32) {
    core.record(Event::Enter, intid.into());
    let board = &core.machine.board;
    if let Some(dispatcher) = core.dispatcher()
        && intid >= FIRST_SPI
        && let Some(owner) = core.machine.owner(intid)
    {
        dispatcher.wake(core, owner, WakeReason::Interrupt(intid));
    } else if intid == board.hypervisor_timer {
        // First, as the work may sleep until the timer expires again.
        cpu_interface::deactivate(intid);
        core.run_periodic_work();
    } else if intid == board.uart_irq && core.machine.owner(intid).is_none() {
        console::input::receive(core);
        cpu_interface::deactivate(intid);
    } else if handle_iommu_irq(core, intid) {
        // The events are reported.
    } else if intid == board.maintenance {
        if let Some((vm, vcpu)) = current {
            refresh(core, vm, vcpu);
        }
        cpu_interface::deactivate(intid);
    } else if let Some((vm, vcpu)) = current
        && inject(core, vm, vcpu, intid)
    {
        if let Some(dispatcher) = core.dispatcher() {
            dispatcher.wake(core, vm, WakeReason::Listed);
        }
    } else {
        // Without an owner it must not stay active, nor be signalled again.
        match core.dispatcher() {
            Some(dispatcher) if intid < FIRST_SPI => dispatcher.private_interrupt(core),
            _ => disable(core, intid),
        }
        cpu_interface::deactivate(intid);
    }
    core.record(Event::Leave, intid.into());
}

/// Injects an acknowledged interrupt into the current vCPU; returns false if its VM does not own
/// it.
fn inject(core: &'static Core, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
    if intid == core.machine.board.virtual_timer {
        if list_timer(core, vm, vcpu) {
            return true;
        }
        let listed = core.lr_usage.get();
        core.lr_usage
            .set(listed.with_timer_irq(TimerIrq::InOtherLr));
    }
    inject_listed(core, vm, vcpu, intid)
}

/// Disables an interrupt without an owner.
fn disable(core: &Core, intid: u32) {
    let board = &core.machine.board;
    if intid < FIRST_SPI {
        board.redistributor(core.cpu).disable(intid);
    } else {
        board.distributor().disable(intid);
    }
}

/// Takes all pending interrupts of an idle core. Interrupts for its guest wait in memory, as the
/// list registers are saved before the guest's next start.
#[inline(never)]
pub(crate) fn serve_pending(core: &'static Core) {
    doorbell(core);
    if let Some((vm, vcpu)) = core.current_vcpu()
        && let Some(gic) = vm.interrupts.shared()
    {
        while shared(core, Some((vm, vcpu))) {}
        let mut physical = VmInterrupts {
            machine: core.machine,
            vm,
        };
        // Nothing else runs on this core: one call saves all.
        let _done = gic.lock().save_lrs(vcpu, &mut physical);
    }
}
