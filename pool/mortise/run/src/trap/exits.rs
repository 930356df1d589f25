//! Exits of a guest.

use super::{devices, fast_exits, hypercalls};
use crate::{
    gic::sgi::send_sgi,
    irq::{CoreInterrupts, deliver, doorbell::doorbell, posted::INTERRUPT},
    run::vcpu_run::{apply_orders, block, finish_exit},
};
use core_manifest::FaultPolicy;
use core_statistics::{ExitKind, Reason};
use hw_arch::{El2, ExceptionLevel, registers::hpfar_el2};
use mortise_gicd::SgiRequest;
use mortise_machine::{Core, Vcpu, Vm};
use mortise_state::fault::Fault;
use mortise_vcpu::{
    Cause, Exit, Frame, FrameCell, SystemRegister, TrapResponse, id_register,
    inject_external_abort, inject_undefined, is_exit_from_el0, skip_instruction,
};

/// Handles an exit. Called with the guest's registers by the vectors of a shared core, for all exits
/// but IRQs; returns the frame of the guest to enter.
#[inline]
pub fn exit(frame: &mut Frame, cause: Cause) -> &'static FrameCell {
    let core = Core::current();
    match core.dispatcher() {
        Some(dispatcher) => dispatcher.exit(cause, core),
        None => {
            core.check_exit(cause);
            exit_slow(core, frame, cause)
        }
    }
}

/// Handles an exit of a pinned vCPU; returns from a fast path with x19 to x29 unchanged.
#[inline]
pub fn exit_pinned(frame: &mut Frame, cause: Cause) -> &'static FrameCell {
    let core = Core::current();
    core.check_exit(cause);
    match (cause, core.current_vcpu()) {
        (Cause::Hypercall, _) => exit_hypercall(core, frame),
        (Cause::Synchronous, Some((vm, vcpu))) if fast_exits::exit(core, vm, vcpu, frame) => {
            core.check_entry();
            &core.pinned.frame
        }
        _ => exit_slow(core, frame, cause),
    }
}

/// Handles a hypercall of a pinned vCPU; a separate function, as the registers it saves would make
/// the other exits longer.
#[inline(never)]
fn exit_hypercall(core: &'static Core, frame: &mut Frame) -> &'static FrameCell {
    if !fast_exits::call(core, frame) {
        // Without the registers that the other exits save.
        handle_and_enter(core, frame, Cause::Hypercall, |vm, vcpu, frame| {
            if !vm.is_ending() {
                hypercall(core, vm, vcpu, frame);
            }
        })
    }
    core.check_entry();
    &core.pinned.frame
}

/// The slow path of a pinned vCPU.
#[inline(never)]
fn exit_slow(core: &'static Core, frame: &mut Frame, cause: Cause) -> ! {
    handle_and_enter(core, frame, cause, |vm, vcpu, frame| {
        handle(core, (vm, vcpu), frame, cause);
    })
}

/// Calls `action` for the current guest and enters it, as a return to the vectors takes longer.
#[inline(always)]
fn handle_and_enter(
    core: &'static Core,
    frame: &mut Frame,
    cause: Cause,
    action: impl FnOnce(&'static Vm, usize, &mut Frame),
) -> ! {
    if let Some((vm, vcpu)) = core.current_vcpu() {
        core.record_exit(cause);
        action(vm, vcpu, frame);
        finish_exit(core, vm, vcpu, frame);
        core.record_return();
        core.check_entry();
    }
    // SAFETY: the frame is that of the pinned vCPU that exited, and nothing on this core's
    // stack is needed after the entry.
    unsafe { mortise_vcpu::enter(&core.pinned.frame) }
}

/// Handles an exit by its cause.
pub(crate) fn handle(core: &'static Core, (vm, vcpu): Vcpu, frame: &mut Frame, cause: Cause) {
    match cause {
        // The run is ending and the memory is withdrawn: further exits of its vCPUs are not faults.
        Cause::Synchronous | Cause::Hypercall if vm.is_ending() => {}
        Cause::Irq => {
            vm.status.count_exit(vcpu, ExitKind::Interrupt);
            deliver::shared(core, Some((vm, vcpu)));
        }
        Cause::Acknowledged => {
            vm.status.count_exit(vcpu, ExitKind::Interrupt);
            deliver::taken(core, Some((vm, vcpu)), core.pinned.acknowledged_intid());
        }
        Cause::Fiq => match core.dispatcher() {
            Some(_) => {
                vm.status.count_exit(vcpu, ExitKind::Interrupt);
                core.handle_doorbell();
            }
            // A pinned vCPU has neither pending VMs nor deferred IPIs, and the rest is short.
            None => {
                core.pinned.count::<INTERRUPT>();
                doorbell(core);
                apply_orders(core, vm, vcpu, frame);
            }
        },
        Cause::SError => {
            vm.status.count_exit(vcpu, ExitKind::Other);
            vm.record_fault(vcpu, Fault::SYSTEM_ERROR);
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
        // Pending interrupts are taken before the exit is handled; the guest repeats the
        // instruction.
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
            block(core, vm, vcpu);
        }
        Exit::SystemRegister(access) => {
            count(ExitKind::SystemRegister);
            system_register(core, (vm, vcpu), frame, access);
        }
        // Pending interrupts are taken before a fault is reported; the guest repeats the access.
        Exit::DataAbort { ipa, access } => {
            count(ExitKind::Mmio);
            // Only device registers are answered, and only accesses with a valid syndrome.
            let outcome = ipa
                .zip(access)
                .and_then(|(ipa, access)| devices::access(core, vm, vcpu, ipa, access, frame).ok());
            if let Some(outcome) = outcome {
                if outcome == devices::AccessOutcome::Done {
                    skip_instruction();
                }
            } else {
                let fault = Fault {
                    reason: Reason::DataAbort,
                    write: access.map(|access| access.write),
                    at: ipa,
                };
                abort(core, vm, vcpu, fault);
            }
        }
        Exit::InstructionAbort { ipa } => {
            count(ExitKind::Other);
            let fault = Fault {
                reason: Reason::InstructionAbort,
                write: None,
                at: ipa,
            };
            abort(core, vm, vcpu, fault);
        }
        Exit::FloatingPoint => {
            count(ExitKind::Other);
            match core.dispatcher() {
                Some(dispatcher) => dispatcher.floating_point(),
                None => inject_undefined(),
            }
        }
        // Instructions and registers that a VM does not have.
        Exit::Other(_) => {
            count(ExitKind::Other);
            inject_undefined();
        }
    }
}

/// Ends the run for an abort of the guest's kernel, or hands the abort to that kernel: always if EL0
/// took it, so that no process can stop its VM.
fn abort(core: &'static Core, vm: &'static Vm, vcpu: usize, fault: Fault) {
    if vm.is_descheduled() || core.preemption_pending() {
        return;
    }
    if is_exit_from_el0() || vm.description().on_fault == FaultPolicy::Inject {
        inject_external_abort();
    } else {
        vm.record_fault(vcpu, fault);
    }
}

/// Emulates a trapped MRS or MSR.
fn system_register(core: &'static Core, (vm, vcpu): Vcpu, frame: &mut Frame, trap: SystemRegister) {
    match trap.response() {
        TrapResponse::Sgi { group1 } => {
            let request = SgiRequest::new(frame.register(trap.register));
            send_sgi(core, (vm, vcpu), request, group1);
        }
        TrapResponse::Constant(_) if trap.write => {}
        TrapResponse::Constant(value) => frame.set_register(trap.register, value),
        TrapResponse::IdRegister => frame.set_register(trap.register, id_register(trap.encoding)),
        TrapResponse::Undefined => return inject_undefined(),
    }
    skip_instruction();
}

/// Exits of a core.
pub trait HandleExit {
    /// Handles an exit, without the choice of the guest to enter.
    fn handle_exit(&'static self, frame: &mut Frame, cause: Cause);
}

impl HandleExit for Core {
    #[inline(never)]
    fn handle_exit(&'static self, frame: &mut Frame, cause: Cause) {
        if let Some(current) = self.current_vcpu() {
            handle(self, current, frame, cause);
        }
    }
}
