//! What a guest's exit leads to.

use super::{devices, fast_exits, hypercalls};
use crate::{
    gic::vm_interrupts::VmInterrupts,
    irq::{CoreInterrupts, deliver, doorbell::doorbell, posted::INTERRUPT},
    machine::{Core, Vm, fault::Fault, registry},
    run::vcpu_run::{apply_orders, idle, leave},
};
use core_statistics::{ExitKind, Reason};
use hw_arch::{El2, ExceptionLevel, registers::hpfar_el2};
use mortise_gicd::SgiRequest;
use mortise_vcpu::{
    Cause, Exit, Frame, FrameCell, SystemRegister, TrapResponse, inject_undefined, skip_instruction,
};

/// Takes an exit. Called by the vectors with the guest's registers; returns those
/// of the guest that goes on.
#[inline]
pub fn exit(frame: &mut Frame, cause: Cause) -> &'static FrameCell {
    let core = Core::current();
    match core.dispatcher() {
        Some(dispatcher) => dispatcher.exit(cause, core),
        None => {
            core.check_exit(cause);
            alone(core, frame, cause)
        }
    }
}

/// The same on a core that one virtual CPU has to itself: returns from a short way, with x19 to x29 as
/// they were.
#[inline]
pub fn exit_pinned(frame: &mut Frame, cause: Cause) -> &'static FrameCell {
    let core = Core::current();
    core.check_exit(cause);
    match (cause, core.current_vcpu()) {
        (Cause::Hypercall, _) => call_alone(core, frame),
        (Cause::Synchronous, Some((vm, vcpu))) if fast_exits::exit(core, vm, vcpu, frame) => {
            core.check_entry();
            &core.resident.frame
        }
        _ => alone(core, frame, cause),
    }
}

/// The same of a call; apart, as what keeps registers for it would make the others longer.
#[inline(never)]
fn call_alone(core: &'static Core, frame: &mut Frame) -> &'static FrameCell {
    if !fast_exits::call(core, frame) {
        // Without the registers that the other exits need kept.
        through(core, frame, Cause::Hypercall, |vm, vcpu, frame| {
            if !vm.is_ending() {
                hypercall(core, vm, vcpu, frame);
            }
        })
    }
    core.check_entry();
    &core.resident.frame
}

/// The general way there.
#[inline(never)]
fn alone(core: &'static Core, frame: &mut Frame, cause: Cause) -> ! {
    through(core, frame, cause, |vm, vcpu, frame| {
        handle(core, vm, vcpu, frame, cause);
    })
}

/// Does something for the guest here, and enters it in the end, as to return to the vectors takes
/// longer.
#[inline(always)]
fn through(
    core: &'static Core,
    frame: &mut Frame,
    cause: Cause,
    action: impl FnOnce(&'static Vm, usize, &mut Frame),
) -> ! {
    if let Some((vm, vcpu)) = core.current_vcpu() {
        core.record_exit(cause);
        action(vm, vcpu, frame);
        leave(core, vm, vcpu, frame);
        core.record_return();
        core.check_entry();
    }
    // SAFETY: this frame is the one that was left, and nothing on this core's stack is needed any
    // more.
    unsafe { mortise_vcpu::enter(&core.resident.frame) }
}

/// Does what an exit asks for.
pub(crate) fn handle(
    core: &'static Core,
    vm: &'static Vm,
    vcpu: usize,
    frame: &mut Frame,
    cause: Cause,
) {
    match cause {
        // The virtual machine's end is under way, its memory withdrawn: what its
        // vCPUs do now is no fault of theirs.
        Cause::Synchronous | Cause::Hypercall if vm.is_ending() => {}
        Cause::Irq => {
            vm.status.count_exit(vcpu, ExitKind::Interrupt);
            deliver::shared(core, Some((vm, vcpu)));
        }
        Cause::Acknowledged => {
            vm.status.count_exit(vcpu, ExitKind::Interrupt);
            deliver::taken(core, Some((vm, vcpu)), core.resident.acknowledged_intid());
        }
        Cause::Fiq => match core.dispatcher() {
            Some(_) => {
                vm.status.count_exit(vcpu, ExitKind::Interrupt);
                core.handle_doorbell();
            }
            // Here are neither mail nor errands, and the rest is short.
            None => {
                core.resident.count::<INTERRUPT>();
                doorbell(core);
                apply_orders(core, vm, vcpu, frame);
            }
        },
        Cause::SError => {
            vm.status.count_exit(vcpu, ExitKind::Other);
            vm.stop_for(vcpu, Fault::SYSTEM_ERROR);
        }
        Cause::Hypercall => hypercall(core, vm, vcpu, frame),
        Cause::Synchronous => synchronous(core, vm, vcpu, frame),
    }
}

#[inline(never)]
fn hypercall(core: &'static Core, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
    vm.status.count_exit(vcpu, ExitKind::Hypercall);
    hypercalls::call(core, vm, vcpu, frame);
}

fn synchronous(core: &'static Core, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
    let count = |kind| vm.status.count_exit(vcpu, kind);
    match Exit::decode(El2::read_esr(), hpfar_el2::read(), El2::read_far()) {
        // What goes first is taken before anything is done for the guest, which does it again.
        Exit::Hypercall if core.preemption_pending() => mortise_vcpu::repeat_instruction(),
        Exit::Smc | Exit::SystemRegister(_) | Exit::DataAbort { .. } | Exit::FloatingPoint
            if core.preemption_pending() => {}
        Exit::Hypercall => hypercall(core, vm, vcpu, frame),
        Exit::Smc => {
            skip_instruction();
            hypercall(core, vm, vcpu, frame);
        }
        Exit::Wait => {
            count(ExitKind::Wait);
            skip_instruction();
            idle(core, vm, vcpu);
        }
        Exit::SystemRegister(access) => {
            count(ExitKind::SystemRegister);
            system_register(core, vm, vcpu, frame, access);
        }
        // What goes first is taken before a fault is one: the guest makes the access again.
        Exit::DataAbort { ipa, access } => {
            count(ExitKind::Mmio);
            // Only a device's registers are worth an answer, and only what the
            // syndrome describes can be answered.
            let outcome = ipa
                .zip(access)
                .and_then(|(ipa, access)| devices::access(core, vm, vcpu, ipa, access, frame).ok());
            if let Some(outcome) = outcome {
                if outcome == devices::Outcome::Done {
                    skip_instruction();
                }
            } else if !vm.is_descheduled() && !core.preemption_pending() {
                let fault = Fault {
                    reason: Reason::DataAbort,
                    write: access.map(|access| access.write),
                    at: ipa,
                };
                vm.stop_for(vcpu, fault);
            }
        }
        Exit::InstructionAbort { ipa } => {
            count(ExitKind::Other);
            if !vm.is_descheduled() && !core.preemption_pending() {
                let fault = Fault {
                    reason: Reason::InstructionAbort,
                    write: None,
                    at: ipa,
                };
                vm.stop_for(vcpu, fault);
            }
        }
        Exit::FloatingPoint => {
            count(ExitKind::Other);
            match core.dispatcher() {
                Some(dispatcher) => dispatcher.floating_point(),
                None => inject_undefined(),
            }
        }
        // Instructions and registers that a virtual machine does not have.
        Exit::Other(_) => {
            count(ExitKind::Other);
            inject_undefined();
        }
    }
}

/// Answers a trapped MRS or MSR.
fn system_register(
    core: &'static Core,
    vm: &'static Vm,
    vcpu: usize,
    frame: &mut Frame,
    access: SystemRegister,
) {
    match access.response() {
        TrapResponse::Sgi { group1 } => {
            let request = SgiRequest::new(frame.register(access.register));
            send_sgi(core, vm, vcpu, request, group1);
        }
        TrapResponse::Constant(value) => {
            if !access.write {
                frame.set_register(access.register, value);
            }
        }
        TrapResponse::IdRegister => match core.dispatcher() {
            Some(dispatcher) => {
                let value = dispatcher.identity(access.encoding);
                frame.set_register(access.register, value);
            }
            None => return inject_undefined(),
        },
        TrapResponse::Undefined => return inject_undefined(),
    }
    skip_instruction();
}

/// Sends a software-generated interrupt from vCPU to vCPU.
fn send_sgi(core: &'static Core, vm: &'static Vm, vcpu: usize, request: SgiRequest, group1: bool) {
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
            hw_arch::registers::icc_sgi1r_el1::write(value);
        }
        hw_arch::barrier::isb();
    }
}

/// Exits of a core.
pub trait HandleExit {
    /// Does what an exit asks for, but for who goes on after it.
    fn handle_exit(&'static self, frame: &mut Frame, cause: Cause);
}

impl HandleExit for Core {
    #[inline(never)]
    fn handle_exit(&'static self, frame: &mut Frame, cause: Cause) {
        if let Some((vm, vcpu)) = self.current_vcpu() {
            handle(self, vm, vcpu, frame, cause);
        }
    }
}
