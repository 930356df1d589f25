//! Hypercalls of channels.

use crate::{CHANNELS, execute, execute_now, mapped::MappedChannel};
use core_trace::Event;
use mortise_hypercall::{Brief, Call, Caller, Group, Outcome, Reply};
use mortise_partition::Core;

/// Kicks the peer of a channel.
const RING: u32 = 0xc600_0200;
/// Returns the epochs of both ends and the number of lost messages.
const STATE: u32 = 0xc600_0201;

/// No such channel.
const NOT_FOUND: Reply = Reply::status(-6);

/// Hypercall group.
pub static GROUP: Group = Group {
    name: "channels",
    brief: Some(Brief {
        function: RING,
        answer: ring,
    }),
    ranges: &[(RING, STATE)],
    handle,
};

/// Handles a call. If an interrupt is pending on a shared core, the call is repeated, as it may
/// take long where the peer has a virtual interrupt controller. This does not apply to a VM with
/// direct interrupts: it may have masked the pending interrupt and would repeat its call for ever.
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

/// Kicks the peer of a channel in steps, with a check for pending interrupts between them. A
/// repeated call finds what is done and completes the rest.
fn ring_in_steps(core: &'static Core, number: u64) -> Outcome {
    let Some(MappedChannel { channel, .. }) = CHANNELS.get(number) else {
        return NOT_FOUND.into();
    };
    let rung = core
        .current_vcpu()
        .map(|(vm, _)| channel.ring_deferred(vm.index()));
    let Some(Ok(())) = rung else {
        return Reply::DENIED.into();
    };
    if core.preemption_pending() {
        return Outcome::Again(0);
    }
    core.record(Event::Ring, number);
    execute(core.machine(), channel.take_pending());
    Reply::value(0).into()
}

/// Kicks the peer of a channel, if the calling VM has one of its ends.
fn ring(number: u64) -> Option<u64> {
    let core = Core::current();
    let (vm, _) = core.current_vcpu()?;
    let answer = CHANNELS.get(number)?.channel.ring(vm.index()).ok()?;
    execute_now(core.machine(), answer);
    Some(0)
}

fn reply(core: &'static Core, call: &Call) -> Reply {
    let Some(mapped) = CHANNELS.get(call.argument(1)) else {
        return NOT_FOUND;
    };
    let channel = &mapped.channel;
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
