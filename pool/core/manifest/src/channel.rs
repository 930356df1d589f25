//! A channel: messages in one direction.

use crate::node::Node;
use crate::{Dynamic, Error, InterruptMode, System};
use core_memory::{PAGE_SIZE, PhysicalRange};

/// Who has an end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A VM made at boot, by its index in [`System::vms`].
    Vm(usize),
    /// The VM of a template, by its index in [`Dynamic::templates`].
    Template(usize),
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Whose it is.
    pub owner: Owner,
    /// The interrupt that rings there: virtual, of a VM that takes its interrupts from the
    /// hardware a software-generated one.
    pub interrupt: u16,
}

/// A channel between two VMs.
#[derive(Clone, Copy, Debug)]
pub struct Channel<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many messages it holds, a power of two.
    pub slots: u32,
    /// How many bytes a message may have.
    pub size: u32,
    /// The producer's part, whole pages; the status page and the consumer's part follow.
    pub producer: PhysicalRange,
    /// The page Mortise writes.
    pub status: PhysicalRange,
    /// The consumer's part, a page.
    pub consumer: PhysicalRange,
    /// Who sends.
    pub from: Party,
    /// Who receives.
    pub to: Party,
}

impl Channel<'_> {
    /// All of its memory.
    pub(crate) const fn parts(&self) -> [PhysicalRange; 3] {
        [self.producer, self.status, self.consumer]
    }
}

/// Messages in a channel, and bytes in a message, at most.
const LARGEST: u32 = 1 << 16;
/// Bytes of the producer's part in front of the messages.
const HEADER: u64 = 0x40;
/// Bytes in front of a message.
const LENGTH: u64 = 8;

pub(crate) fn parse<'a>(
    node: &Node<'a>,
    dynamic: &Dynamic<'a>,
    system: &System<'a>,
) -> Result<Channel<'a>, Error<'a>> {
    let [slots, size] = node.cells("shape")?;
    if !slots.is_power_of_two() || slots > LARGEST || size == 0 || size > LARGEST {
        return Err(node.invalid("shape", "be a power of two and a size, both up to 65536"));
    }
    let mut parts = node.tuples("parts", [2, 2])?;
    let mut part = || match parts.next() {
        Some([start, size]) => node.pages("parts", start, size),
        None => Err(node.invalid("parts", "be three ranges")),
    };
    let (producer, consumer, status): (PhysicalRange, PhysicalRange, PhysicalRange) =
        (part()?, part()?, part()?);
    let room = HEADER + u64::from(slots) * (LENGTH + u64::from(size)).next_multiple_of(LENGTH);
    let pages = [status.size(), consumer.size()] == [PAGE_SIZE; 2];
    let follow = [producer.end(), status.end()] == [status.start(), consumer.start()];
    if !pages || !follow || producer.size() < room {
        return Err(node.invalid("parts", "hold the messages, with two pages behind"));
    }
    let [from_interrupt, to_interrupt] = node.cells("interrupts")?;
    let party = |end: &'static str, interrupt: u32| {
        let name = node.text(end)?;
        let vm = system.vms.iter().position(|vm| vm.name == name);
        let template = dynamic
            .templates
            .iter()
            .position(|known| known.name == name);
        let owner = match (vm, template) {
            (Some(vm), _) => Owner::Vm(vm),
            (_, Some(template)) => Owner::Template(template),
            _ => return Err(node.invalid(end, "name a VM or a template")),
        };
        let interrupt = u16::try_from(interrupt).unwrap_or(u16::MAX);
        let party = Party { owner, interrupt };
        check_interrupt(node, "interrupts", party, dynamic, system)?;
        Ok(party)
    };
    let channel = Channel {
        name: node.name(),
        slots,
        size,
        producer,
        status,
        consumer,
        from: party("from", from_interrupt)?,
        to: party("to", to_interrupt)?,
    };
    if channel.from.owner == channel.to.owner {
        return Err(node.invalid("to", "be another VM than from"));
    }
    Ok(channel)
}

/// An interrupt must be one that its VM can get, and nothing else's.
pub(crate) fn check_interrupt<'a>(
    node: &Node<'a>,
    property: &'static str,
    party: Party,
    dynamic: &Dynamic<'a>,
    system: &System<'a>,
) -> Result<(), Error<'a>> {
    let vm = match party.owner {
        Owner::Vm(vm) => system.vms.get(vm),
        Owner::Template(_) => None,
    };
    // SGIs from 8 on are not Linux's; shared peripheral interrupts (GIC specification, 2.2).
    let possible = match vm.map(|vm| vm.interrupt_mode) {
        Some(InterruptMode::Direct) => 8..16,
        _ => 32..1020,
    };
    let passed = vm.is_some_and(|vm| vm.interrupts.contains(&party.interrupt));
    let channels = dynamic.channels.iter();
    let ends = channels.flat_map(|other| [other.from, other.to]);
    let mut others = ends.chain(dynamic.vlibs.iter().map(|vlib| vlib.master));
    if !possible.contains(&party.interrupt) || passed || others.any(|other| other == party) {
        return Err(node.invalid(property, "be free ones that the VMs can get"));
    }
    Ok(())
}
