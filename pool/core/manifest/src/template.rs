//! Template record: a Tenon VM made on demand.

use crate::tables::number;
use crate::{Channel, Error, List, Mapping, MappingKind, Name, Owner, Reserve, Schedule, limits};
use core_memory::{IntermediateRange, PAGE_SIZE, PhysicalRange};
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Payload of a template. Its destination follows from the memory that the VM is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct TemplatePayload {
    /// Physical range of the pristine bytes.
    pub source: PhysicalRange,
    /// Target IPA range.
    pub target: IntermediateRange,
}

/// Template of a Tenon VM made on demand; at most one instance exists at a time.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Template {
    /// IPA range of its memory: whole blocks, at most the size of the reserve.
    pub memory: IntermediateRange,
    /// Bytes from its status page to the end of its task areas, whole pages.
    pub window: u64,
    /// Entry point, an IPA in its memory.
    pub entry: u64,
    /// Value of x0 at the entry point.
    pub argument: u64,
    /// Its scheduling parameters.
    pub schedule: Schedule,
    /// Payloads copied before each start.
    pub fillings: List<TemplatePayload, { limits::PAYLOADS }>,
    /// Mappings of its ends of channels.
    pub shared: List<Mapping, { limits::MAPPINGS }>,
    /// Its name, unique among templates and VMs, at most [`limits::REQUEST`] bytes.
    pub name: Name,
    /// Physical CPU of each vCPU; all belong to the reserve.
    pub cpus: List<u8, { limits::VCPUS }>,
    starter: u32,
}

impl Template {
    /// The channel on which the first message makes an instance.
    pub const fn start_on(&self) -> Option<usize> {
        number(self.starter)
    }

    /// Validates the template, except its starting channel.
    pub(crate) fn check(&self, reserve: Option<&Reserve>) -> Result<(), Error<'_>> {
        let invalid = |field, must| self.invalid(field, must);
        let Some(reserve) = reserve else {
            return invalid("memory", "come from a reserve");
        };
        if !self.name.is_sound() || self.name.as_bytes().len() > limits::REQUEST {
            return invalid("name", "be a text of 1 to 16 bytes");
        }
        let size = self.memory.size();
        let blocks = self.memory.is_sound() && self.memory.is_aligned(limits::BLOCK);
        if !blocks || size > reserve.memory.size() {
            return invalid("memory", "be whole blocks that the reserve has");
        }
        let mut cpus = self.cpus.iter().enumerate();
        let sound = cpus.all(|(index, cpu)| {
            let mut earlier = self.cpus.iter().take(index);
            reserve.cpus.holds(usize::from(*cpu)) && !earlier.any(|other| other == cpu)
        });
        if self.cpus.is_empty() || !sound {
            return invalid("cpus", "be different CPUs of the reserve");
        }
        if !self.memory.holds(self.entry) {
            return invalid("entry", "lie in its memory");
        }
        if self.window == 0 || !self.window.is_multiple_of(PAGE_SIZE) {
            return invalid("window", "be whole pages");
        }
        let fills = |filling: &TemplatePayload| {
            let sound = filling.source.is_sound() && filling.target.is_sound();
            let sizes = filling.source.size() == filling.target.size();
            sound && sizes && self.memory.contains(&filling.target)
        };
        if !self.fillings.is_whole() || !self.fillings.iter().all(fills) {
            return invalid("fillings", "be up to 4 that go into its memory");
        }
        let shares = |mapping: &Mapping| {
            mapping.is_sound() && matches!(mapping.kind, MappingKind::Shared { .. })
        };
        if !self.shared.is_whole() || !self.shared.iter().all(shares) {
            return invalid("shared", "be up to 16 of whole pages that it shares");
        }
        self.schedule
            .check()
            .or_else(|must| invalid("schedule", must))
    }

    /// Checks that its starting channel leads to this template, which has number `index`.
    pub(crate) fn check_start(&self, index: usize, channels: &[Channel]) -> Result<(), Error<'_>> {
        let channel = self.start_on().map(|number| channels.get(number));
        let leads = channel.is_none_or(|channel| {
            channel.is_some_and(|channel| channel.to.owner == Owner::Template(index as u8))
        });
        match leads {
            true => Ok(()),
            false => self.invalid("start-on", "be a channel to the template"),
        }
    }

    fn invalid(&self, field: &'static str, must: &'static str) -> Result<(), Error<'_>> {
        Err(Error::invalid(self.name.as_str(), field, must))
    }
}
