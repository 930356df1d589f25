//! A channel: messages in one direction.

use crate::vm::{are_pages, is_page};
use crate::{Dynamic, Error, InterruptMode, Name, System};
use core_memory::PhysicalRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Who has an end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum Owner {
    /// A VM made at boot, by its index in [`System::vms`].
    Vm(u8),
    /// The VM of a template, by its index in [`Dynamic::templates`].
    Template(u8),
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Party {
    /// Whose it is.
    pub owner: Owner,
    /// The interrupt that rings there: virtual, of a VM that takes its interrupts from the
    /// hardware a software-generated one.
    pub interrupt: u16,
}

/// A channel between two VMs.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Channel {
    /// The producer's part, whole pages; the status page and the consumer's part follow.
    pub producer: PhysicalRange,
    /// The page Mortise writes.
    pub status: PhysicalRange,
    /// The consumer's part, a page.
    pub consumer: PhysicalRange,
    /// Its name.
    pub name: Name,
    /// How many messages it holds, a power of two.
    pub slots: u32,
    /// How many bytes a message may have.
    pub size: u32,
    /// Who sends.
    pub from: Party,
    /// Who receives.
    pub to: Party,
}

impl Channel {
    /// All of its memory.
    pub(crate) const fn parts(&self) -> [PhysicalRange; 3] {
        [self.producer, self.status, self.consumer]
    }

    /// Whether it means something by itself; `number` is its own.
    pub(crate) fn check<'a>(
        &'a self,
        number: usize,
        dynamic: &Dynamic<'a>,
        system: &System<'a>,
    ) -> Result<(), Error<'a>> {
        let of = self.name.as_str();
        let invalid = |field, must| Err(Error::Invalid { of, field, must });
        if !self.name.is_sound() {
            return invalid("name", "be a text of 1 to 32 bytes");
        }
        let (slots, size) = (self.slots, self.size);
        if !slots.is_power_of_two() || slots > LARGEST || size == 0 || size > LARGEST {
            return invalid("shape", "be a power of two and a size, both up to 65536");
        }
        let pages = are_pages(&self.producer) && is_page(&self.status) && is_page(&self.consumer);
        let room = HEADER + u64::from(slots) * (LENGTH + u64::from(size)).next_multiple_of(LENGTH);
        let follow = || {
            self.producer.end() == self.status.start() && self.status.end() == self.consumer.start()
        };
        if !pages || !follow() || self.producer.size() < room {
            return invalid("parts", "hold the messages, with two pages behind");
        }
        for (end, party) in [("from", self.from), ("to", self.to)] {
            let known = match party.owner {
                Owner::Vm(vm) => usize::from(vm) < system.vms.len(),
                Owner::Template(template) => usize::from(template) < dynamic.templates.len(),
            };
            if !known {
                return invalid(end, "be a VM or a template");
            }
            let earlier = dynamic.channels.iter().take(number);
            let taken = earlier.flat_map(|other| [other.from, other.to]);
            check_interrupt(of, party, taken, system)?;
        }
        if self.from.owner == self.to.owner {
            return invalid("to", "be another VM than from");
        }
        Ok(())
    }
}

/// Messages in a channel, and bytes in a message, at most.
const LARGEST: u32 = 1 << 16;
/// Bytes of the producer's part in front of the messages.
const HEADER: u64 = 0x40;
/// Bytes in front of a message.
const LENGTH: u64 = 8;

/// An interrupt must be one that its VM can get, and nothing else's.
pub(crate) fn check_interrupt<'a>(
    of: &'a str,
    party: Party,
    mut taken: impl Iterator<Item = Party>,
    system: &System<'a>,
) -> Result<(), Error<'a>> {
    let vm = match party.owner {
        Owner::Vm(vm) => system.vms.get(usize::from(vm)),
        Owner::Template(_) => None,
    };
    // SGIs from 8 on are not Linux's; shared peripheral interrupts (GIC specification, 2.2).
    let possible = match vm.map(|vm| vm.interrupt_mode) {
        Some(InterruptMode::Direct) => 8..16,
        _ => 32..1020,
    };
    let passed = vm.is_some_and(|vm| vm.interrupts.contains(&party.interrupt));
    if !possible.contains(&party.interrupt) || passed || taken.any(|other| other == party) {
        return Err(Error::Invalid {
            of,
            field: "interrupt",
            must: "be a free one that the VM can get",
        });
    }
    Ok(())
}
