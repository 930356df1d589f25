//! The two ends of what a vCPU does on its core: it is made ready to start, and taken down.
//!
//! Both are work in [parts](crate::resumable), as who shares the core does not wait for it.

use crate::{
    interrupts,
    machine::Core,
    physical_gic::{VmInterrupts, open_virtual_interface, reset_virtual_interface},
    registry,
    resumable::Step,
    vm::Vm,
};
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_hypercall::Start;
use mortise_psci::{LEADER, VcpuSet};

/// The part of silencing a core's interrupts behind those of the virtual controller's: its interface.
const INTERFACE: usize = usize::MAX;

impl Core {
    /// Takes this core's interrupts back to what a core that is turned on finds:
    /// nothing of what ran before interrupts what comes, or wakes a core at rest.
    /// From a part on, 0 at first, until it is wanted; which is next, nothing behind the last.
    pub(crate) fn silence(&self, vm: &'static Vm, vcpu: usize, part: usize) -> Option<usize> {
        let machine = self.machine;
        if let Some(chip) = registry::irqchip() {
            chip.reset_core(&machine.board.gic());
            return None;
        }
        if let Some(gic) = vm.interrupts.shared() {
            let mut physical = VmInterrupts { machine, vm };
            let mut next = part;
            while next != INTERFACE {
                if self.preemption_pending() {
                    return Some(next);
                }
                let following = gic.lock().reset_vcpu(vcpu, next, &mut physical);
                next = following.unwrap_or(INTERFACE);
            }
            if self.preemption_pending() {
                return Some(INTERFACE);
            }
        } else {
            cpu_interface::set_group_enabled(Group::One, false);
            let board = &machine.board;
            board.redistributor(self.cpu).reset(1 << board.doorbell);
            hw_arch::registers::icc_ap1r0_el1::write(0);
            hw_arch::registers::icc_bpr1_el1::write(0);
        }
        reset_virtual_interface();
        hw_arch::barrier::isb();
        None
    }

    /// Makes this core's EL1 and its interrupts ready for a start.
    #[must_use]
    pub fn prepare_start(
        &'static self,
        vm: &'static Vm,
        vcpu: usize,
        start: Start,
        part: Step,
    ) -> Option<Step> {
        let more = match part.stage {
            0 => return Some(part.resume_at(self.silence(vm, vcpu, part.number))),
            // SAFETY: no guest is in the middle of anything here: this vCPU starts.
            1 => unsafe { mortise_vcpu::reset(start.entry, part.number) },
            2 => {
                if vm.is_shared() {
                    open_virtual_interface();
                }
                if vm.is_shared() && self.dispatcher().is_none() {
                    interrupts::refresh(self, vm, vcpu);
                }
                match registry::irqchip() {
                    Some(chip) => chip.hand_over(&self.machine.board.gic()),
                    // SAFETY: system register access for EL1, which nothing else depends on.
                    None => unsafe { hw_arch::registers::icc_sre_el1::write(7) },
                }
                hw_arch::barrier::isb();
                self.record_run(Some((vm, vcpu)));
                false
            }
            3 => vcpu == LEADER && self.machine.vm_starts(vm, part.number),
            4 => {
                if vcpu == LEADER {
                    vm.note_running(self.machine.now().saturating_sub(self.machine.started()));
                }
                false
            }
            5 => {
                let wanted = self.preemption_pending();
                if vcpu == LEADER && !wanted {
                    self.machine.report(vm.name(), " running", &[]);
                }
                wanted
            }
            _ => return None,
        };
        Some(part.next(more))
    }

    /// Ends what a vCPU in this core's registers did, whose general registers are `x`: it rests from
    /// here on.
    #[must_use]
    pub fn stop_vcpu(
        &'static self,
        vm: &'static Vm,
        vcpu: usize,
        x: &[u64; 31],
        part: Step,
    ) -> Option<Step> {
        let more = match part.stage {
            0 => self.explain(vm, vcpu, x),
            // SAFETY: this vCPU has ended what it did.
            1 => unsafe { mortise_vcpu::reset(0, part.number) },
            2 => return Some(part.resume_at(self.silence(vm, vcpu, part.number))),
            3 => {
                // Nothing of it is left to be disturbed: now others may count on its rest.
                let number = vm.rests(self.machine, vcpu).bits() as usize;
                let stage = part.stage + 1;
                return (number != 0).then_some(Step { stage, number });
            }
            _ => {
                let calls = VcpuSet::from_bits(part.number as u32);
                vm.call(calls, self.machine);
                return None;
            }
        };
        Some(part.next(more))
    }
}
