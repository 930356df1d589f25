//! What VMs call.

use crate::{CHANNELS, follow, follow_at_once, placed::Placed};
use core_trace::Event;
use mortise_hypercall::{Brief, Call, Caller, Group, Outcome, Reply};
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
    brief: Some(Brief {
        function: RING,
        answer: ring,
    }),
    ranges: &[(RING, STATE)],
    handle,
};

/// Answers a call; later, if an interrupt waits for a core that is shared: what follows may take long
/// where the other end's interrupt controller is a virtual one. A VM that has its interrupts itself
/// may have masked the one that waits, and would call for ever.
fn handle(call: &Call, _caller: &mut dyn Caller) -> Outcome {
    let core = Core::current();
    if core.preemption_pending() {
        return Outcome::Again(0);
    }
    match call.function() {
        RING => ring_in_steps(core, call.argument(1)),
        _ => reply(core, call).into(),
    }
}

/// Rings a channel's other end, with a look at what is pending between its steps. Who rings again finds
/// what is done, and does what is owed still.
fn ring_in_steps(core: &'static Core, number: u64) -> Outcome {
    let Some(Placed { channel, .. }) = CHANNELS.get(number) else {
        return NOT_FOUND.into();
    };
    let rung = core
        .current_vcpu()
        .map(|(vm, _)| channel.ring_later(vm.index()));
    let Some(Ok(())) = rung else {
        return Reply::DENIED.into();
    };
    if core.preemption_pending() {
        return Outcome::Again(0);
    }
    core.record(Event::Ring, number);
    follow(core.machine(), channel.take_owed());
    Reply::value(0).into()
}

/// Rings this channel's other end, if the VM that calls has one of its ends.
fn ring(number: u64) -> Option<u64> {
    let core = Core::current();
    let (vm, _) = core.current_vcpu()?;
    let answer = CHANNELS.get(number)?.channel.ring(vm.index()).ok()?;
    follow_at_once(core.machine(), answer);
    Some(0)
}

fn reply(core: &'static Core, call: &Call) -> Reply {
    let Some(placed) = CHANNELS.get(call.argument(1)) else {
        return NOT_FOUND;
    };
    let channel = &placed.channel;
    let Some((vm, _)) = core.current_vcpu() else {
        return Reply::DENIED;
    };
    if channel.end_of(vm.index()).is_none() {
        return Reply::DENIED;
    }
    let [producer, consumer, lost] = channel.state();
    Reply {
        registers: [0, producer, consumer, lost],
    }
}
