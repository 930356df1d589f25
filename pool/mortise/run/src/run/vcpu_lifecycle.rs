//! Start and stop of a vCPU on its core.
//!
//! Both are [resumable operations](mortise_state::resumable), so that the guests of a shared core
//! are not delayed.

use super::restart_sequence::advance;
use crate::{
    gic::{
        list_registers::open_virtual_interface, reset::reset_interrupts, vm_interrupts::refresh,
    },
    irq::deliver::serve_pending,
};
use hw_arch::cpu;
use mortise_hypercall::Start;
use mortise_machine::{Core, Vcpu, Vm, registry};
use mortise_output::fault_report::report_fault;
use mortise_psci::{FIRST_VCPU, NextAction, VcpuSet};
use mortise_state::resumable::{Step, run_to_completion};

/// What a vCPU that is off does next.
#[derive(Debug, Clone, Copy)]
pub enum ParkedAction {
    /// It starts here.
    Start(Start),
    /// An interrupt is pending, and more work is to be done after it.
    Interrupted,
    /// It has no work until it is kicked.
    Idle,
}

/// Starts and stops of vCPUs on a core.
pub trait VcpuLifecycle {
    /// Does the work of a vCPU that is off until an interrupt is pending; the first vCPU also ends
    /// and starts runs. Returns what the vCPU does next.
    fn service_parked_vcpu(&'static self, vm: &'static Vm, vcpu: usize) -> ParkedAction;

    /// Prepares this core's EL1 and its interrupts for a start; returns the next step, if any.
    #[must_use]
    fn prepare_start(&'static self, vcpu: Vcpu, start: Start, step: Step) -> Option<Step>;

    /// Stops the current vCPU, with the general registers `x`; returns the next step, if any.
    #[must_use]
    fn stop_vcpu(&'static self, vcpu: Vcpu, x: &[u64; 31], step: Step) -> Option<Step>;

    /// Waits on a lent core until an interrupt is pending, and takes it. If the VM is held, the
    /// vCPU is recorded as off its core.
    fn wait_on_lent_core(&'static self, vm: &'static Vm, vcpu: usize);

    /// Ends a loan: EL1 and the core's interrupts are as after CPU_OFF, and the VM may rely on
    /// that. `x` are the general registers of what ran there last.
    fn return_core(&'static self, vm: &'static Vm, vcpu: usize, x: &[u64; 31]);
}

impl VcpuLifecycle for Core {
    fn service_parked_vcpu(&'static self, vm: &'static Vm, vcpu: usize) -> ParkedAction {
        loop {
            if vcpu == FIRST_VCPU && !advance(self, vm) || self.preemption_pending() {
                return ParkedAction::Interrupted;
            }
            let next = vm.power.lock().next_action(vcpu);
            match next {
                NextAction::Start(start) => return ParkedAction::Start(start),
                NextAction::EndRun(end) => vm.restart.end(end),
                NextAction::Wait => {
                    if vcpu == FIRST_VCPU {
                        self.machine.idle_work(self, vm);
                    }
                    return ParkedAction::Idle;
                }
            }
        }
    }

    fn prepare_start(&'static self, (vm, vcpu): Vcpu, start: Start, step: Step) -> Option<Step> {
        let more = match step.stage {
            0 => return Some(step.resume_at(reset_interrupts(self, vm, vcpu, step.number))),
            // SAFETY: the vCPU starts, so that EL1 holds no state of a guest that is still needed.
            1 => unsafe { mortise_vcpu::reset(start.entry, step.number) },
            2 => {
                if vm.is_shared() {
                    open_virtual_interface();
                }
                if vm.is_shared() && self.dispatcher().is_none() {
                    refresh(self, vm, vcpu);
                }
                match registry::irqchip() {
                    Some(chip) => chip.hand_over(&self.machine.board.gic()),
                    // SAFETY: it enables system register access for EL1, on which nothing at EL2
                    // depends.
                    None => unsafe { hw_arch::registers::icc_sre_el1::write(7) },
                }
                hw_arch::barrier::isb();
                self.record_run(Some((vm, vcpu)));
                // What follows is done once per run, not whenever the VM turns its first vCPU on.
                if !vm.power.lock().is_beginning(vcpu) {
                    return None;
                }
                false
            }
            3 => self.machine.vm_starts(vm, step.number),
            4 => {
                vm.note_running(self.machine.now().saturating_sub(self.machine.started()));
                false
            }
            5 => {
                let pending = self.preemption_pending();
                if !pending {
                    self.machine.report(vm.name(), " running", &[]);
                }
                pending
            }
            _ => {
                vm.power.lock().mark_begun();
                return None;
            }
        };
        Some(step.next(more))
    }

    fn stop_vcpu(&'static self, (vm, vcpu): Vcpu, x: &[u64; 31], step: Step) -> Option<Step> {
        let more = match step.stage {
            0 => report_fault(self, vm, vcpu, x),
            // SAFETY: the vCPU has stopped, so that EL1 holds no state of a guest that is still
            // needed.
            1 => unsafe { mortise_vcpu::reset(0, step.number) },
            2 => return Some(step.resume_at(reset_interrupts(self, vm, vcpu, step.number))),
            3 => {
                // No state of the vCPU is left on this core: from now on others may rely on its
                // stop.
                let number = vm.record_stop(self.machine, vcpu).bits() as usize;
                let stage = step.stage + 1;
                return (number != 0).then_some(Step { stage, number });
            }
            _ => {
                let kicks = VcpuSet::from_bits(step.number as u32);
                vm.kick_cores(kicks, self.machine);
                return None;
            }
        };
        Some(step.next(more))
    }

    fn wait_on_lent_core(&'static self, vm: &'static Vm, vcpu: usize) {
        wait_off_core(self, vm, vcpu);
    }

    fn return_core(&'static self, vm: &'static Vm, vcpu: usize, x: &[u64; 31]) {
        run_to_completion(|step| self.stop_vcpu((vm, vcpu), x, step));
    }
}

/// Waits for an interrupt; the vCPU is recorded as off its core if it must be.
pub(crate) fn wait_off_core(core: &'static Core, vm: &'static Vm, vcpu: usize) {
    if vm.is_descheduled() {
        vm.mark_off_core(vcpu, core.clock().ticks());
    }
    wait(core);
}

/// Waits for an interrupt, and takes what is pending.
pub(crate) fn wait(core: &'static Core) {
    core.record_run(None);
    cpu::wait_for_interrupt();
    serve_pending(core);
}
