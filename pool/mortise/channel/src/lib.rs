//! Channels between VMs: who is there, and doorbells.
//!
//! # Purpose
//!
//! Messages go from VM to VM through memory that both map ([`core_ring::message`]), without Mortise.
//! What is left to it is what neither end can be believed in: that the other one began, ended or was
//! restarted ([`Keeper`]), and to call an end that waits, as the interrupts of a VM are Mortise's.
//!
//! | function | arguments | result |
//! |---|---|---|
//! | `0xC600_0200` RING | x1 channel's number | calls the other end, if it waits |
//! | `0xC600_0201` STATE | x1 channel's number | x1, x2 epochs of producer and consumer; x3 messages lost |
//!
//! Both answer 0, or -3 (DENIED) to a VM that has no end of the channel, -6 (NOT_FOUND) if there is
//! no such channel.
//!
//! # Guarantees
//!
//! - **An end is called once for each time it decides to wait**, whoever rings how often: its wait is
//!   a word of its own that the caller cannot write, and each value of it is delivered once.
//! - A doorbell takes a fixed number of steps and no lock but that of a virtual interrupt controller.
//! - Of the channel Mortise reads indices and waits, all within bounds, and writes the status page;
//!   and the index of a consumer that does not execute.
//! - A start or an end takes a part for each channel of the system, and others their turn in between.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "channels lie where the manifest says")]

mod calls;
mod channel;
mod party;
mod placed;

pub use calls::GROUP;

use channel::Answer;
use core_manifest::{Dynamic, System, limits};
use core_memory::PhysicalRange;
use core_ring::message::End;
use mortise_partition::{Core, DirectSgi, Machine, Vm, VmExtension};
use party::{Call, Reach};
use placed::Placed;
use spin::Once;

/// The channels of the system.
pub struct Channels {
    all: [Once<Placed>; limits::CHANNELS],
}

/// What changes, in two parts, and the two things that that can lead to.
const PARTS: usize = 4;
const CHANGES: usize = 2;

/// The channels of this image's system.
pub static CHANNELS: Channels = Channels {
    all: [const { Once::new() }; limits::CHANNELS],
};

impl Channels {
    fn iter(&self) -> impl Iterator<Item = &Placed> {
        self.all.iter().map_while(Once::get)
    }

    /// Does part `part` of what becomes of a VM's ends: of each channel first the parts of the `change`,
    /// then one by one what that leads to, a call of another VM or the making of one. What something more
    /// urgent does not leave the time for is owed still, and done behind the last channel.
    fn step(
        &self,
        machine: &'static Machine,
        part: usize,
        change: impl Fn(&Placed, usize),
    ) -> bool {
        let (placed, piece) = (self.get((part / PARTS) as u64), part % PARTS);
        if let Some(placed) = placed.filter(|_| piece < CHANGES) {
            change(placed, piece);
            return true;
        }
        let owing = placed.or_else(|| self.iter().find(|placed| placed.channel.owes()));
        if let Some(placed) = owing.filter(|_| !Core::current().preemption_pending()) {
            follow(machine, placed.channel.take_owed());
        }
        owing.is_some()
    }

    /// The channel of this number.
    fn get(&self, number: u64) -> Option<&Placed> {
        self.all.get(usize::try_from(number).ok()?)?.get()
    }
}

/// Does what a start, an end or a doorbell leads to.
#[inline(never)]
fn follow(machine: &'static Machine, answer: Answer) {
    follow_at_once(machine, answer);
}

#[inline(always)]
fn follow_at_once(machine: &'static Machine, answer: Answer) {
    match answer {
        Answer::Quiet => {}
        Answer::Call(Call::Physical(bell)) => {
            if let Some(bell) = DirectSgi::from_bits(bell) {
                bell.send();
            }
        }
        Answer::Call(Call::Notice(vm, core, intid)) => {
            if !machine.post_irq(core, intid) {
                raise(machine, vm, intid);
            }
        }
        Answer::Call(Call::Virtual(vm, intid)) => raise(machine, vm, intid),
        Answer::Want(template) => machine.request_instance(template),
    }
}

#[inline(never)]
fn raise(machine: &'static Machine, vm: usize, intid: u32) {
    if let Some(vm) = machine.vm(vm) {
        vm.raise(machine, intid);
    }
}

impl VmExtension for Channels {
    fn init(
        &self,
        machine: &'static Machine,
        system: &System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str> {
        let malformed = "its channels are malformed";
        let dynamic = Dynamic::parse(manifest, system).map_err(|_| malformed)?;
        for (index, (place, described)) in self.all.iter().zip(dynamic.channels).enumerate() {
            let placed = Placed::new(index, described, &dynamic).ok_or(malformed)?;
            for end in [End::Producer, End::Consumer] {
                let vm = placed.resident(end).and_then(|vm| machine.vm(vm));
                if let Some(vm) = vm {
                    vm.add_interrupt(placed.channel.party(end).intid)?;
                }
            }
            place.call_once(|| placed);
        }
        Ok(())
    }

    fn memory_ranges(&self, core: &'static Core, range: &mut dyn FnMut(PhysicalRange)) {
        for placed in self.iter().filter(|placed| placed.is_reached_by(core)) {
            placed.heads().into_iter().for_each(&mut *range);
        }
    }

    fn vm_starts(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        self.step(machine, part, |placed, piece| {
            if let Some(end) = placed.end_for(vm).filter(|_| piece == 0) {
                let intid = placed.channel.party(end).intid;
                let bell = vm.direct_sgi(machine, intid);
                let reach = match (bell, vm.enable_posted_irq(intid)) {
                    (Some(bell), _) => Reach::DirectSgi(bell.bits()),
                    (None, Some(core)) => Reach::Core(core),
                    (None, None) => Reach::Controller,
                };
                placed.channel.begin(end, vm.index(), reach);
            }
        })
    }

    fn vm_stopped(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        self.step(machine, part, |placed, piece| {
            let Some(end) = placed.channel.end_of(vm.index()) else {
                return;
            };
            match piece {
                0 => vm.clear_posted_irq(machine, placed.channel.party(end).intid),
                _ => placed.channel.end(end),
            }
        })
    }
}
