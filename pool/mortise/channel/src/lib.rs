//! Channels between VMs: presence of the two ends, and doorbells.
//!
//! # Purpose
//!
//! Messages pass between VMs through memory that both map ([`core_ring::message`]), without
//! Mortise. Mortise provides what one end cannot learn from the other reliably: that its peer
//! started, ended or was restarted ([`Supervisor`](core_ring::message::Supervisor)). It also delivers the
//! interrupt that kicks a waiting end.
//!
//! | function | arguments | result |
//! |---|---|---|
//! | `0xC600_0200` RING | x1 channel number | kicks the peer, if it waits |
//! | `0xC600_0201` STATE | x1 channel number | x1, x2 epochs of producer and consumer; x3 messages
//! lost |
//!
//! Both return 0, or -3 (DENIED) to a VM without an end of the channel, or -6 (NOT_FOUND) if there
//! is no such channel.
//!
//! # Guarantees
//!
//! - **One kick for each wait of an end**, however often its peer rings: the wait is a word that
//!   the peer cannot write, and each of its values is delivered once.
//! - A doorbell takes a bounded number of steps, and no lock but that of a virtual interrupt
//!   controller.
//! - Mortise reads indices and waits of a channel, with bounds checked, and writes the status page;
//!   it writes the index of a consumer that does not run.
//! - A start or an end is handled in one step per channel of the system, between which interrupts
//!   are served.
//! - Neither end finds what was in the memory before the machine started: the first VM of a channel
//!   to start, or both together, fill it with zeros before they are entered.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "channels lie at addresses of the manifest")]

mod calls;
mod channel;
mod endpoint;
mod mapped;

pub use calls::GROUP;

use channel::Action;
use core_manifest::{Dynamic, System, limits};
use core_memory::PhysicalRange;
use core_ring::message::End;
use endpoint::{Kick, Reach};
use mapped::MappedChannel;
use mortise_partition::{
    Core, DirectSgi, Machine, Manifest, RaiseInterrupt, Ready, Vm, VmExtension,
};
use spin::Once;

/// State of the system's channels.
pub struct Channels {
    all: [Once<MappedChannel>; limits::CHANNELS],
}

/// Steps of a change, and the number of deferred results that it can have.
const PARTS: usize = 4;
const CHANGES: usize = 2;

/// Entry in the table of VM extensions.
pub static CHANNELS: Channels = Channels {
    all: [const { Once::new() }; limits::CHANNELS],
};

impl Channels {
    fn iter(&self) -> impl Iterator<Item = &MappedChannel> {
        self.all.iter().map_while(Once::get)
    }

    /// Executes step `part` of a VM's start or end: for each channel first the steps of the
    /// `change`, then its deferred results one by one, each a kick of another VM or the creation of
    /// one. Results for which a pending interrupt leaves no time are done after the last channel.
    fn step(
        &self,
        machine: &'static Machine,
        part: usize,
        change: impl Fn(&MappedChannel, usize),
    ) -> bool {
        let (mapped, piece) = (self.get((part / PARTS) as u64), part % PARTS);
        if let Some(mapped) = mapped.filter(|_| piece < CHANGES) {
            change(mapped, piece);
            return true;
        }
        let owing = mapped.or_else(|| self.iter().find(|mapped| mapped.channel.has_pending()));
        if let Some(mapped) = owing.filter(|_| !Core::current().preemption_pending()) {
            execute(machine, mapped.channel.take_pending());
        }
        owing.is_some()
    }

    /// The channel with this number.
    fn get(&self, number: u64) -> Option<&MappedChannel> {
        self.all.get(usize::try_from(number).ok()?)?.get()
    }
}

/// Executes the result of a start, an end or a doorbell.
#[inline(never)]
fn execute(machine: &'static Machine, answer: Action) {
    execute_now(machine, answer);
}

#[inline(always)]
fn execute_now(machine: &'static Machine, answer: Action) {
    match answer {
        Action::Nothing => {}
        Action::Kick(Kick::Physical(sgi)) => {
            if let Some(sgi) = DirectSgi::from_bits(sgi) {
                sgi.send();
            }
        }
        Action::Kick(Kick::Notice(vm, core, intid)) => {
            if !machine.post_irq(core, intid) {
                raise(machine, vm, intid);
            }
        }
        Action::Kick(Kick::Virtual(vm, intid)) => raise(machine, vm, intid),
        Action::Create(template) => machine.request_instance(template),
    }
}

#[inline(never)]
fn raise(machine: &'static Machine, vm: usize, intid: u32) {
    if let Some(vm) = machine.vm(vm) {
        vm.raise(machine, intid);
    }
}

impl VmExtension for Channels {
    fn init(&self, machine: &'static Machine, system: &System<'static>, bytes: Manifest) -> Ready {
        let malformed = "its channels are malformed";
        let dynamic = Dynamic::parse(bytes, system).map_err(|_| malformed)?;
        for (index, (place, described)) in self.all.iter().zip(dynamic.channels).enumerate() {
            let mapped = MappedChannel::new(index, described, &dynamic).ok_or(malformed)?;
            for end in [End::Producer, End::Consumer] {
                let vm = mapped.resident(end).and_then(|vm| machine.vm(vm));
                if let Some(vm) = vm {
                    vm.add_interrupt(mapped.channel.endpoint(end).intid)?;
                }
            }
            place.call_once(|| mapped);
        }
        Ok(())
    }

    fn memory_ranges(&self, core: &'static Core, range: &mut dyn FnMut(PhysicalRange)) {
        for mapped in self.iter().filter(|mapped| mapped.is_reached_by(core)) {
            mapped.heads().into_iter().for_each(&mut *range);
        }
    }

    fn vm_starts(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        let more = self.step(machine, part, |mapped, piece| {
            if let Some(end) = mapped.end_for(vm).filter(|_| piece == 0) {
                let intid = mapped.channel.endpoint(end).intid;
                let sgi = vm.direct_sgi(machine, intid);
                let reach = match (sgi, vm.enable_posted_irq(intid)) {
                    (Some(sgi), _) => Reach::DirectSgi(sgi.bits()),
                    (None, Some(core)) => Reach::Core(core),
                    (None, None) => Reach::Controller,
                };
                mapped.channel.begin(end, vm.index(), reach);
            }
        });
        let mut own = self.iter().filter(|mapped| mapped.end_for(vm).is_some());
        more || own.any(MappedChannel::scrub)
    }

    fn vm_stopped(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        self.step(machine, part, |mapped, piece| {
            let Some(end) = mapped.channel.end_of(vm.index()) else {
                return;
            };
            match piece {
                0 => vm.clear_posted_irq(machine, mapped.channel.endpoint(end).intid),
                _ => mapped.channel.end(end),
            }
        })
    }
}
