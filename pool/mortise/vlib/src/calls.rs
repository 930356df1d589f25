//! Hypercalls of vLibs.

use crate::{BUSY, MappedVlib, Role, VLIBS, session::Refusal};
use core_trace::Event;
use mortise_hypercall::{Call, Caller, Group, Outcome, Reply};
use mortise_partition::Core;

/// Starts a call to the server.
const CALL: u32 = 0xc600_0401;
/// Suspends the server.
const STOP: u32 = 0xc600_0402;
/// Resumes the server.
const GO: u32 = 0xc600_0403;
/// Returns the state.
const STATE: u32 = 0xc600_0404;

/// No such vLib, or its server does not listen.
const NOT_FOUND: Reply = Reply::status(-6);

/// Ends the service: the server's program is gone.
const LEAVE: u32 = 0xc600_0405;

/// Hypercall group.
pub static GROUP: Group = Group {
    name: "vlibs",
    brief: None,
    ranges: &[(CALL, LEAVE)],
    handle,
};

/// Handles a call. If an interrupt is pending on a shared core, the call is repeated.
fn handle(call: &Call, _: &mut dyn Caller) -> Outcome {
    let core = Core::current();
    if core.preemption_pending() {
        return Outcome::Again(0);
    }
    reply(core, call).into()
}

fn reply(core: &'static Core, call: &Call) -> Reply {
    let Some(vlib) = VLIBS.get(call.argument(1)) else {
        return NOT_FOUND;
    };
    let role = core
        .current_vcpu()
        .and_then(|(vm, _)| vlib.role(vm.index()));
    let answer = match (call.function(), role) {
        (LEAVE, Some(Role::Server)) => vlib.step(core.machine(), None, |it| Ok(it.server_ends())),
        (CALL, Some(Role::Master)) => vlib.step(core.machine(), None, |it| it.call()),
        (STOP, Some(Role::Master)) => vlib.step(core.machine(), None, |it| Ok(it.stop())),
        (GO, Some(Role::Master)) => vlib.step(core.machine(), None, |it| Ok(it.go())),
        (STATE, Some(_)) => return state(vlib),
        _ => return Reply::DENIED,
    };
    core.record(Event::Ring, call.argument(1));
    match answer {
        Ok(begun) => Reply {
            registers: [0, begun, 0, 0],
        },
        Err(Refusal::Busy) => Reply::status(BUSY),
        Err(Refusal::Absent) => NOT_FOUND,
    }
}

fn state(vlib: &MappedVlib) -> Reply {
    let session = vlib.session();
    Reply {
        registers: [0, session.state as u64, session.begun, session.done],
    }
}
