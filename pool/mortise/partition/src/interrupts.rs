//! Interrupts that come to Mortise.
//!
//! Group 0 is the doorbell, on every core. Group 1 comes here only on cores of
//! shared virtual machines: Mortise's own (console, its timer, maintenance) and
//! those that go on to the guest through a list register.

use crate::{
    console,
    gic::VmInterrupts,
    machine::Core,
    vm::{Interrupts, Vm},
};
use hw_irqchip_gicv3::{FIRST_SPI, Group, cpu_interface};

/// Takes the doorbell. What it is about stands in the VM's power states or in its
/// virtual interrupt controller.
pub(crate) fn doorbell(core: &Core) {
    while let Some(intid) = cpu_interface::acknowledge(Group::Zero) {
        cpu_interface::end(Group::Zero, intid);
        if core.vcpu().is_some_and(|(vm, _)| vm.is_shared()) {
            cpu_interface::deactivate(intid);
        }
    }
    // Acknowledging orders nothing by itself. A look at what it is about that came
    // before would find nothing, and the doorbell would be spent.
    hw_arch::barrier::dsb_sy();
}

/// Takes one Group 1 interrupt of a shared core; false if there is none.
pub(crate) fn shared(core: &Core, vm: &'static Vm, vcpu: usize) -> bool {
    let Some(intid) = cpu_interface::acknowledge(Group::One) else {
        return false;
    };
    cpu_interface::end(Group::One, intid);
    let board = &core.machine.board;
    if intid == board.uart_irq {
        console::receive(core.machine);
        cpu_interface::deactivate(intid);
    } else if intid == board.hypervisor_timer {
        core.machine.alarms.sound(core.machine);
        cpu_interface::deactivate(intid);
    } else if intid == board.maintenance {
        refresh(core, vm, vcpu);
        cpu_interface::deactivate(intid);
    } else if let Interrupts::Shared(gic) = &vm.interrupts {
        let mut physical = VmInterrupts {
            machine: core.machine,
            vm,
        };
        if !gic.lock().inject_hardware(vcpu, intid, &mut physical) {
            // Nobody's: it must not stay active, nor come again.
            cpu_interface::deactivate(intid);
            silence(core, intid);
        }
    }
    true
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
pub(crate) fn refresh(core: &Core, vm: &'static Vm, vcpu: usize) {
    if let Interrupts::Shared(gic) = &vm.interrupts {
        gic.lock().refresh(
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
pub(crate) fn serve_pending(core: &Core) {
    doorbell(core);
    if let Some((vm, vcpu)) = core.vcpu()
        && let Interrupts::Shared(gic) = &vm.interrupts
    {
        while shared(core, vm, vcpu) {}
        let mut physical = VmInterrupts {
            machine: core.machine,
            vm,
        };
        gic.lock().leave(vcpu, &mut physical);
    }
}
