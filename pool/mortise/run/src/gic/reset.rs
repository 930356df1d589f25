//! Reset of a VM's interrupts between two runs, in bounded steps.

use super::{
    list_registers::reset_virtual_interface,
    vm_interrupts::{MERGE_LOCK, VmInterrupts},
};
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_machine::{Core, Machine, Vm, registry};

/// Step of a reset of interrupts that resets the CPU interface, after those of the virtual GIC.
const INTERFACE: usize = usize::MAX;

/// Resets this core's interrupts to the state of a core that is turned on: nothing of the previous
/// guest interrupts the next one, or wakes an idle core. Continues from `part` until an interrupt
/// is pending; returns the next part, if any.
pub fn reset_interrupts(core: &Core, vm: &'static Vm, vcpu: usize, part: usize) -> Option<usize> {
    let machine = core.machine;
    if let Some(chip) = registry::irqchip() {
        chip.reset_core(&machine.board.gic());
        return None;
    }
    if let Some(gic) = vm.interrupts.shared() {
        let mut physical = VmInterrupts { machine, vm };
        let mut next = part;
        while next != INTERFACE {
            if core.preemption_pending() {
                return Some(next);
            }
            let following = gic.lock().reset_vcpu(vcpu, next, &mut physical);
            next = following.unwrap_or(INTERFACE);
        }
        if core.preemption_pending() {
            return Some(INTERFACE);
        }
    } else {
        cpu_interface::set_group_enabled(Group::One, false);
        let board = &machine.board;
        board.redistributor(core.cpu).reset(1 << board.doorbell);
        hw_arch::registers::icc_ap1r0_el1::write(0);
        hw_arch::registers::icc_bpr1_el1::write(0);
    }
    reset_virtual_interface();
    hw_arch::barrier::isb();
    None
}

/// Resets the VM's SPIs while no vCPU runs, from `part` until an interrupt is pending; returns the
/// next part, if any.
pub fn reset_spis(vm: &'static Vm, machine: &'static Machine, part: usize) -> Option<usize> {
    if let Some(gic) = vm.interrupts.shared() {
        let core = Core::current();
        let mut physical = VmInterrupts { machine, vm };
        let mut next = Some(part);
        while let Some(part) = next {
            if core.preemption_pending() {
                return next;
            }
            next = gic.lock().reset(part, &mut physical);
        }
    } else if let Some(gic) = vm.interrupts.direct() {
        // All of it is in banks, at the same offsets on a GICv2.
        let distributor = machine.board.distributor();
        let _guard = MERGE_LOCK.lock();
        gic.shared().for_each(|intid| distributor.reset(intid));
    }
    vm.route(machine);
    None
}
