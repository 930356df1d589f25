//! A channel at its place in memory, as the manifest describes it.

use crate::channel::Channel;
use crate::endpoint::Endpoint;
use core_manifest::{self as manifest, Dynamic, Name, Owner};
use core_memory::{PAGE_SIZE, PhysicalRange};
use core_ring::Area;
use core_ring::message::{End, Parts, Shape};
use hw_arch::cache;
use mortise_partition::{Core, Vm};
use mortise_transfer::FirstUse;

/// A channel, its memory, and the owners of its ends.
pub(crate) struct MappedChannel {
    pub channel: Channel,
    heads: [PhysicalRange; 2],
    /// The messages, which the producer writes.
    messages: Option<FirstUse>,
    /// Names of the templates that own ends: those of VMs made at run time.
    templates: [Option<&'static Name>; 2],
}

impl MappedChannel {
    /// Channel `index` as described, cleared; `None` if the description is invalid.
    pub fn new(
        index: usize,
        described: &manifest::Channel,
        dynamic: &Dynamic<'static>,
    ) -> Option<Self> {
        let shape = Shape::new(described.slots, described.size).ok()?;
        let parts = Parts {
            producer: area(described.producer)?,
            consumer: area(described.consumer)?,
            status: area(described.status)?,
        };
        let ends = [described.from, described.to];
        let template_of = |owner| match owner {
            Owner::Template(index) => dynamic.templates.get(usize::from(index)),
            Owner::Vm(_) => None,
        };
        let template = match described.to.owner {
            Owner::Template(to) if template_of(described.to.owner)?.start_on() == Some(index) => {
                Some(to.into())
            }
            _ => None,
        };
        let [from, to] =
            ends.map(|endpoint| Endpoint::new(endpoint.owner, endpoint.interrupt.into()));
        let both = described.status.size() + described.consumer.size();
        let heads = [
            PhysicalRange::new(described.producer.start(), PAGE_SIZE)?,
            PhysicalRange::new(described.status.start(), both)?,
        ];
        for head in &heads {
            // SAFETY: the early table maps all of RAM, and the manifest's parser has checked that no
            // other use overlaps the channel.
            unsafe { cache::zero_to_poc(head.start() as usize, head.size() as usize) };
        }
        let start = described.producer.start() + PAGE_SIZE;
        let messages = described.producer.end().checked_sub(start);
        let messages = messages.filter(|size| *size > 0);
        Some(Self {
            messages: messages
                .and_then(|size| PhysicalRange::new(start, size))
                .map(FirstUse::new),
            channel: Channel::new(&parts, shape, [from, to], template).ok()?,
            heads,
            templates: ends
                .map(|endpoint| template_of(endpoint.owner).map(|template| &template.name)),
        })
    }

    /// The areas that Mortise maps: all but the messages.
    pub const fn heads(&self) -> [PhysicalRange; 2] {
        self.heads
    }

    /// Does a step of the scrub before the first use of the messages; returns whether more follow.
    /// Called before the VM of an end is entered.
    pub fn scrub(&self) -> bool {
        let transfer = Core::current().transfer();
        let work = self.messages.as_ref().zip(transfer);
        // SAFETY: the windows are those of this core. The manifest's parser has checked that only
        // the two ends map the messages, and each is entered after the last step. No core accesses
        // more than the heads before.
        work.is_some_and(|(messages, transfer)| unsafe { messages.step(transfer) })
    }

    /// The VM made at boot that has this end.
    pub const fn resident(&self, end: End) -> Option<usize> {
        match self.channel.endpoint(end).owner {
            Owner::Vm(vm) => Some(vm as usize),
            Owner::Template(_) => None,
        }
    }

    /// The end that this VM has while it runs.
    pub fn end_for(&self, vm: &Vm) -> Option<End> {
        let ends = [End::Producer, End::Consumer].into_iter();
        let mut ends = ends.zip(self.templates);
        let found = ends.find(|(end, template)| match template {
            // A VM that is made from a file never has the name of a template.
            Some(name) => !vm.is_resident() && *name == vm.name(),
            None => self.resident(*end) == Some(vm.index()),
        });
        found.map(|(end, _)| end)
    }

    /// Whether a core may access the channel: as the core of an end, or of a VM that ends one. A VM
    /// made at run time may do so on any core.
    pub fn is_reached_by(&self, core: &'static Core) -> bool {
        let ends = [End::Producer, End::Consumer].into_iter();
        let mut owners = ends.map(|end| self.resident(end));
        owners.any(|owner| owner.is_none_or(|vm| core.hosts(vm)))
    }
}

/// Memory of an area.
fn area(range: PhysicalRange) -> Option<Area<'static>> {
    // SAFETY: the manifest's parser has checked that no other use overlaps it. The early table maps
    // all RAM as normal memory, and so does each core that `is_reached_by` names. A core that has
    // not mapped the messages accesses only the heads.
    unsafe { Area::from_raw(range.start() as *mut u8, range.size() as usize) }
}
