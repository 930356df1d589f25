//! What VMs call.

use crate::{CHANNELS, follow};
use core_trace::Event;
use mortise_hypercall::{Call, Caller, Group, Outcome, Reply};
use mortise_partition::Core;

/// Calls the other end of a channel.
const RING: u32 = 0xc600_0200;
/// Tells who is there and what was lost.
const STATE: u32 = 0xc600_0201;

/// There is no such channel.
const NOT_FOUND: Reply = Reply::status(-6);

/// The calls about channels.
pub static GROUP: Group = Group {
    name: "channels",
    ranges: &[(RING, STATE)],
    handle,
};

/// Answers a call; later, if an interrupt waits for a core that is shared: what follows may take long
/// where the other end's interrupt controller is a virtual one. A VM that has its interrupts itself
/// may have masked the one that waits, and would call for ever.
fn handle(call: &Call, _caller: &mut dyn Caller) -> Outcome {
    if Core::current().is_wanted() {
        return Outcome::Again(0);
    }
    reply(call).into()
}

fn reply(call: &Call) -> Reply {
    let Some(placed) = CHANNELS.get(call.argument(1)) else {
        return NOT_FOUND;
    };
    let (channel, core) = (&placed.channel, Core::current());
    let Some((vm, _)) = core.vcpu() else {
        return Reply::DENIED;
    };
    if call.function() == RING {
        core.record(Event::Ring, call.argument(1));
        match channel.ring(vm.index()) {
            Ok(answer) => follow(core.machine(), answer),
            Err(_) => return Reply::DENIED,
        }
        return Reply::SUCCESS;
    }
    if channel.end_of(vm.index()).is_none() {
        return Reply::DENIED;
    }
    let [producer, consumer, lost] = channel.state();
    Reply {
        registers: [0, producer, consumer, lost],
    }
}
