//! SGIs from vCPU to vCPU of a VM.

use super::vm_interrupts::VmInterrupts;
use hw_arch::{barrier::isb, registers::icc_sgi1r_el1};
use mortise_gicd::SgiRequest;
use mortise_machine::{Core, Vcpu, Vm, registry};

/// Sends an SGI from vCPU to vCPU.
pub fn send_sgi(core: &'static Core, (vm, vcpu): Vcpu, request: SgiRequest, group1: bool) {
    if let Some(gic) = vm.interrupts.shared() {
        let mut physical = VmInterrupts {
            machine: core.machine,
            vm,
        };
        gic.lock().send_sgi(vcpu, request, group1, &mut physical);
    } else if let Some(gic) = vm.interrupts.direct()
        && group1
        && registry::irqchip().is_none()
    {
        for value in gic.sgis(vcpu, request) {
            icc_sgi1r_el1::write(value);
        }
        isb();
    }
}

/// Sends a vCPU a Group 1 SGI that it requested for itself, if that takes no more than a register
/// write; returns whether it is sent.
#[inline(always)]
pub fn send_to_self(core: &'static Core, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
    if let Some(gic) = vm.interrupts.shared() {
        let machine = core.machine;
        let mut physical = VmInterrupts { machine, vm };
        return gic.lock().relist_sgi(vcpu, intid, &mut physical);
    }
    if registry::irqchip().is_some() {
        return false;
    }
    let direct = vm.interrupts.direct();
    let value = direct.and_then(|gic| gic.sgi_to_self(vcpu, intid));
    value.is_some_and(|value| {
        icc_sgi1r_el1::write(value);
        isb();
        true
    })
}
