//! What VMs call.

use crate::{BUSY, Placed, Role, VLIBS, session::Refusal};
use core_trace::Event;
use mortise_hypercall::{Call, Caller, Group, Outcome, Reply};
use mortise_partition::Core;

/// Lets the server serve.
const CALL: u32 = 0xc600_0401;
/// Has it stand still.
const STOP: u32 = 0xc600_0402;
/// Lets it go on.
const GO: u32 = 0xc600_0403;
/// Tells how far it is.
const STATE: u32 = 0xc600_0404;

/// There is no such vLib, or nobody listens.
const NOT_FOUND: Reply = Reply::status(-6);

/// Nobody serves any more: the server's program is gone.
const LEAVE: u32 = 0xc600_0405;

/// The calls about vLibs.
pub static GROUP: Group = Group {
    name: "vlibs",
    brief: None,
    ranges: &[(CALL, LEAVE)],
    handle,
};

/// Answers a call; later, if somebody else may wait for this core.
fn handle(call: &Call, _: &mut dyn Caller) -> Outcome {
    if Core::current().preemption_pending() {
        return Outcome::Again(0);
    }
    reply(call).into()
}

fn reply(call: &Call) -> Reply {
    let Some(vlib) = VLIBS.get(call.argument(1)) else {
        return NOT_FOUND;
    };
    let core = Core::current();
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

fn state(vlib: &Placed) -> Reply {
    let session = vlib.session();
    Reply {
        registers: [0, session.state as u64, session.begun, session.done],
    }
}
