//! Interrupts that come to Mortise.
//!
//! Group 0 is the doorbell, on every core, and the SGI of [notices](crate::posted_irq). Group 1 comes here only on cores of
//! shared virtual machines: Mortise's own (console, its timer, maintenance) and
//! those that go on to a guest through a list register, at once or, on a core that
//! several share, when the guest is on it.

use crate::{
    console,
    dispatch::WakeReason,
    machine::Core,
    physical_gic::{self, VmInterrupts},
    registry,
    vm::Vm,
};
use core::sync::atomic::Ordering;
use core_trace::Event;
use hw_irqchip_gicv3::{FIRST_SPI, Group, cpu_interface, is_special};
use mortise_vcpu::TimerIrq;

/// Takes the doorbell. What it is about stands in the VM's power states or in its
/// virtual interrupt controller.
pub(crate) fn doorbell(core: &'static Core) {
    if let Some(chip) = registry::irqchip() {
        return core.answer_by(chip);
    }
    while let Some(intid) = cpu_interface::acknowledge(Group::Zero) {
        cpu_interface::end(Group::Zero, intid);
        core.record(Event::Enter, intid.into());
        core.record(Event::Leave, intid.into());
        if core.is_split() {
            cpu_interface::deactivate(intid);
        }
    }
    // Acknowledging orders nothing by itself. A look at what it is about that came
    // before would find nothing, and the doorbell would be spent.
    hw_arch::barrier::dsb_sy();
    match core.dispatcher() {
        Some(_) => wake_pending_vms(core),
        None => core.inject_posted_irq(),
    }
}

/// Tells the dispatcher of a shared core what other cores have to say.
pub(crate) fn wake_pending_vms(core: &'static Core) {
    if let Some(dispatcher) = core.dispatcher() {
        let mut pending_vms = core.pending_vms.swap(0, Ordering::Acquire);
        while pending_vms != 0 {
            let index = pending_vms.trailing_zeros() as usize;
            pending_vms &= pending_vms - 1;
            if let Some(vm) = core.machine.vm(index) {
                core.tell(dispatcher, vm);
            }
        }
    }
}

/// Tells the dispatcher of a shared core what one of the other cores' mails says, or does one of the
/// core's own [errands](Core::send_pending_ipi); false if there is none. For as long as there are, the
/// doorbell stays pending.
pub(crate) fn wake_one_pending_vm(core: &'static Core) -> bool {
    let pending_vms = core.pending_vms.load(Ordering::Acquire);
    let first = pending_vms & pending_vms.wrapping_neg();
    let (Some(dispatcher), 1..) = (core.dispatcher(), first) else {
        return core.send_pending_ipi();
    };
    core.pending_vms.fetch_and(!first, Ordering::AcqRel);
    if let Some(vm) = core.machine.vm(first.trailing_zeros() as usize) {
        core.tell(dispatcher, vm);
    }
    true
}

/// Takes one Group 1 interrupt of a core whose interrupts come here, with the virtual CPU
/// whose guest is in its registers; false if there is none.
pub(crate) fn shared(core: &'static Core, occupant: Option<(&'static Vm, usize)>) -> bool {
    // Without, all of Group 1 is the virtual machines' own.
    registry::virtual_devices() && taken(core, occupant, cpu_interface::acknowledge_any(Group::One))
}

/// The same with what was acknowledged.
pub(crate) fn taken(
    core: &'static Core,
    occupant: Option<(&'static Vm, usize)>,
    intid: u32,
) -> bool {
    let is_one = registry::virtual_devices() && !is_special(intid);
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
        core.machine.hypervisor_timer.sound(core);
        cpu_interface::deactivate(intid);
    } else if intid == board.uart_irq && core.machine.owner(intid).is_none() {
        console::receive(core);
        cpu_interface::deactivate(intid);
    } else if core.hears_iommu(intid) {
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
        if physical_gic::list_timer(core, vm, vcpu) {
            return true;
        }
        let listed = core.listed.get();
        core.listed.set(listed.with_timer_irq(TimerIrq::InOtherLr));
    }
    list(core, vm, vcpu, intid)
}

/// Does the same with one that no [template](Vm::timer_template) serves.
pub(crate) fn list(core: &'static Core, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
    let mut physical = VmInterrupts {
        machine: core.machine,
        vm,
    };
    let gic = vm.interrupts.shared();
    gic.is_some_and(|gic| gic.lock().inject_hardware(vcpu, intid, &mut physical))
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

/// Brings this core's list registers up to date.
pub(crate) fn refresh(core: &'static Core, vm: &'static Vm, vcpu: usize) {
    if let Some(gic) = vm.interrupts.shared() {
        gic.lock().refresh_lrs(
            vcpu,
            &mut VmInterrupts {
                machine: core.machine,
                vm,
            },
        );
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
