//! Hypercalls of detached programs.

use crate::{LOANS, LentCore};
use core::sync::atomic::Ordering;
use core_trace::Event;
use mortise_hypercall::{Call, Caller, Group, Outcome, Reply};
use mortise_partition::{Core, Loan};

/// Returns the address of a vCPU's cell.
const CELL: u32 = 0xc600_0300;
/// Runs the context of the cell.
const RUN: u32 = 0xc600_0301;
/// Takes it off the core.
const STOP: u32 = 0xc600_0302;

/// No such vCPU.
const INVALID: Reply = Reply::status(-2);
/// The vCPU is on, or its core is not lent.
const BUSY: Reply = Reply::status(-5);

/// Hypercall group.
pub static GROUP: Group = Group {
    name: "detach",
    brief: None,
    ranges: &[(CELL, STOP)],
    handle,
};

/// Handles a call. If an interrupt is pending on a shared core, the call is repeated.
fn handle(call: &Call, caller: &mut dyn Caller) -> Outcome {
    if Core::current().preemption_pending() {
        return Outcome::Again(0);
    }
    let Some(vcpu) = caller.vcpu_with_affinity(call.argument(1)) else {
        return INVALID.into();
    };
    let core = Core::current();
    let lent = core
        .current_vcpu()
        .and_then(|(vm, _)| Some((vm, LOANS.of(vm)?.lent(vcpu)?)));
    let Some((vm, lent)) = lent else {
        return Reply::DENIED.into();
    };
    core.record(Event::Call, call.argument(1));
    match call.function() {
        CELL => Reply {
            registers: [0, lent.ipa, LOANS.interrupt(vm).into(), 0],
        },
        RUN => {
            lent.stop.store(false, Ordering::Release);
            match vm.lend(core.machine(), vcpu) {
                Ok(()) => Reply::SUCCESS,
                Err(_) => BUSY,
            }
        }
        _ => stop(lent, vm, vcpu, core),
    }
    .into()
}

fn stop(
    lent: &LentCore,
    vm: &'static mortise_partition::Vm,
    vcpu: usize,
    core: &'static Core,
) -> Reply {
    if vm.loan(vcpu) == Loan::None {
        return BUSY;
    }
    lent.stop.store(true, Ordering::Release);
    // If the core is reclaimed in between, nothing runs there.
    match vm.lend(core.machine(), vcpu) {
        Ok(()) => Reply::SUCCESS,
        Err(_) => BUSY,
    }
}
