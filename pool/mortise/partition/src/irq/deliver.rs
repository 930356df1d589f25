//! Interrupts that come to Mortise.
//!
//! Group 0 is the doorbell, on every core, and the SGI of [notices](crate::posted_irq). Group 1 comes here only on cores of
//! shared virtual machines: Mortise's own (console, its timer, maintenance) and
//! those that go on to a guest through a list register, at once or, on a core that
//! several share, when the guest is on it.

use super::{doorbell::doorbell, iommu::hears_iommu};
use crate::{
    console,
    gic::{
        list_registers::list_timer,
        vm_interrupts::{VmInterrupts, list, refresh},
    },
    machine::{Core, Vm, interface::WakeReason, options},
};
use core_trace::Event;
use hw_irqchip_gicv3::{FIRST_SPI, Group, cpu_interface, is_special};
use mortise_vcpu::TimerIrq;

/// Takes one Group 1 interrupt of a core whose interrupts come here, with the virtual CPU
/// whose guest is in its registers; false if there is none.
pub(crate) fn shared(core: &'static Core, occupant: Option<(&'static Vm, usize)>) -> bool {
    // Without, all of Group 1 is the virtual machines' own.
    options::virtual_devices() && taken(core, occupant, cpu_interface::acknowledge_any(Group::One))
}

/// The same with what was acknowledged.
pub(crate) fn taken(
    core: &'static Core,
    occupant: Option<(&'static Vm, usize)>,
    intid: u32,
) -> bool {
    let is_one = options::virtual_devices() && !is_special(intid);
    if is_one {
        cpu_interface::end(Group::One, intid);
        deliver(core, occupant, intid);
    }
    is_one
}

/// Does what a Group 1 interrupt that was acknowledged asks for.
///
/// On a core that is shared a device's is noted only, whoever is in the registers, and listed
/// later: something more urgent may be pending by then. The private ones are always those of who
/// is in the registers: no other's timer counts.
#[inline(never)]
pub(crate) fn deliver(core: &'static Core, occupant: Option<(&'static Vm, usize)>, intid: u32) {
    core.record(Event::Enter, intid.into());
    let board = &core.machine.board;
    if let Some(dispatcher) = core.dispatcher()
        && intid >= FIRST_SPI
        && let Some(owner) = core.machine.owner(intid)
    {
        dispatcher.wake(core, owner, WakeReason::Interrupt(intid));
    } else if intid == board.hypervisor_timer {
        core.run_periodic_work();
        cpu_interface::deactivate(intid);
    } else if intid == board.uart_irq && core.machine.owner(intid).is_none() {
        console::input::receive(core);
        cpu_interface::deactivate(intid);
    } else if hears_iommu(core, intid) {
        // What it had to tell is told.
    } else if intid == board.maintenance {
        if let Some((vm, vcpu)) = occupant {
            refresh(core, vm, vcpu);
        }
        cpu_interface::deactivate(intid);
    } else if let Some((vm, vcpu)) = occupant
        && inject(core, vm, vcpu, intid)
    {
        if let Some(dispatcher) = core.dispatcher() {
            dispatcher.wake(core, vm, WakeReason::Listed);
        }
    } else {
        // Nobody's: it must not stay active, nor come again.
        cpu_interface::deactivate(intid);
        if intid >= FIRST_SPI || core.dispatcher().is_none() {
            silence(core, intid);
        }
    }
    core.record(Event::Leave, intid.into());
}

/// Gives an acknowledged interrupt to the virtual CPU whose guest is in the registers;
/// false if it is not its VM's.
fn inject(core: &'static Core, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
    if intid == core.machine.board.virtual_timer {
        if list_timer(core, vm, vcpu) {
            return true;
        }
        let listed = core.listed.get();
        core.listed.set(listed.with_timer_irq(TimerIrq::InOtherLr));
    }
    list(core, vm, vcpu, intid)
}

/// Turns off an interrupt that nobody owns.
fn silence(core: &Core, intid: u32) {
    let board = &core.machine.board;
    if intid < FIRST_SPI {
        board.redistributor(core.cpu).disable(intid);
    } else {
        board.distributor().disable(intid);
    }
}

/// Takes everything pending on a core that rests. What comes for its guest waits
/// in memory, as the list registers are emptied before the guest's next start.
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
        // Nobody waits here: it is done in one go.
        let _done = gic.lock().save_lrs(vcpu, &mut physical);
    }
}
