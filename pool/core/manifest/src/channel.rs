//! Channel record: one-way messages between two VMs.

use crate::vm::{are_pages, is_page};
use crate::{Error, InterruptMode, Name, System};
use core_memory::PhysicalRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// VM at an end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum Owner {
    /// A VM made at boot, by its index in [`System::vms`].
    Vm(u8),
    /// The VM of a template, by its index in [`Dynamic::templates`](crate::Dynamic::templates).
    Template(u8),
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Endpoint {
    /// The VM at this end.
    pub owner: Owner,
    /// Doorbell interrupt of this end: a virtual SPI; an SGI for a VM with direct interrupts.
    pub interrupt: u16,
}

/// Channel between two VMs.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Channel {
    /// The producer's part, whole pages; the status page and the consumer's part follow.
    pub producer: PhysicalRange,
    /// The status page, which Mortise writes.
    pub status: PhysicalRange,
    /// The consumer's part, one page.
    pub consumer: PhysicalRange,
    /// Its name.
    pub name: Name,
    /// Capacity in messages, a power of two.
    pub slots: u32,
    /// Maximum size of a message in bytes.
    pub size: u32,
    /// The sender.
    pub from: Endpoint,
    /// The receiver.
    pub to: Endpoint,
}

impl Channel {
    /// Its memory ranges.
    pub(crate) const fn parts(&self) -> [PhysicalRange; 3] {
        [self.producer, self.status, self.consumer]
    }

    /// Validates the channel; `earlier` are the channels before it in the table, `templates` is the
    /// number of templates.
    pub(crate) fn check<'a>(
        &'a self,
        earlier: &[Self],
        templates: usize,
        system: &System<'a>,
    ) -> Result<(), Error<'a>> {
        self.name.check()?;
        let of = self.name.as_str();
        let invalid = |field, must| Err(Error::invalid(of, field, must));
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
                Owner::Template(template) => usize::from(template) < templates,
            };
            if !known {
                return invalid(end, "be a VM or a template");
            }
            let taken = earlier.iter().flat_map(|other| [other.from, other.to]);
            check_interrupt(of, party, taken, system)?;
        }
        if self.from.owner == self.to.owner {
            return invalid("to", "be another VM than from");
        }
        Ok(())
    }
}

/// Maximum number of messages in a channel, and of bytes in a message.
const LARGEST: u32 = 1 << 16;
/// Size in bytes of the header of the producer's part.
const HEADER: u64 = 0x40;
/// Size in bytes of the length field in front of a message.
const LENGTH: u64 = 8;

/// Checks that the interrupt of `party` is one that its VM can receive and is not in use.
pub(crate) fn check_interrupt<'a>(
    of: &'a str,
    party: Endpoint,
    mut taken: impl Iterator<Item = Endpoint>,
    system: &System<'a>,
) -> Result<(), Error<'a>> {
    let vm = match party.owner {
        Owner::Vm(vm) => system.vms.get(usize::from(vm)),
        Owner::Template(_) => None,
    };
    // Linux uses SGIs 0 to 7. SPIs are 32 to 1019 (GIC specification, 2.2).
    let possible = match vm.map(|vm| vm.interrupt_mode) {
        Some(InterruptMode::Direct) => 8..16,
        _ => 32..1020,
    };
    let passed = vm.is_some_and(|vm| vm.interrupts.contains(&party.interrupt));
    if !possible.contains(&party.interrupt) || passed || taken.any(|other| other == party) {
        return Err(Error::invalid(
            of,
            "interrupt",
            "be a free one that the VM can get",
        ));
    }
    Ok(())
}
