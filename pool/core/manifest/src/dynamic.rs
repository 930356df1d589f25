//! What comes, goes and talks while the system runs.

use crate::header::Tables;
use crate::vm::are_pages;
use crate::{Channel, Error, Schedule, System, Template, Vlib, apart, limits};
use core_memory::PhysicalRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Small numbers: CPUs, or VMs and templates by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(transparent)]
pub struct Set(u64);

impl Set {
    /// Whether `number` is in it.
    pub const fn holds(self, number: usize) -> bool {
        number < u64::BITS as usize && self.0 >> number & 1 != 0
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all that is in `self` is in `other` too.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The numbers, the smallest first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..u64::BITS as usize).filter(move |&number| self.holds(number))
    }

    /// The numbers as bits of a word.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether each is below `count`.
    const fn is_below(self, count: usize) -> bool {
        self.is_within(Self(!(u64::MAX << count)))
    }
}

/// What VMs made at run time may take.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Reserve {
    /// Their memory, whole blocks.
    pub memory: PhysicalRange,
    /// For each one that there may be at a time, [`limits::SLOT`] bytes: its status page, and its
    /// log ring behind it.
    pub slots: PhysicalRange,
    /// The CPUs they may run on.
    pub cpus: Set,
}

impl Reserve {
    /// How many such VMs there may be at a time.
    pub const fn slots(&self) -> usize {
        (self.slots.size() / limits::SLOT) as usize
    }

    fn check<'a>(&self) -> Result<(), Error<'a>> {
        if !are_pages(&self.memory) || !self.memory.is_aligned(limits::BLOCK) {
            return invalid("reserve", "memory", "be whole blocks");
        }
        if self.cpus.is_empty() {
            return invalid("reserve", "cpus", "be at least one");
        }
        if !are_pages(&self.slots) || !self.slots.size().is_multiple_of(limits::SLOT) {
            return invalid("reserve", "slots", "be whole slots");
        }
        Ok(())
    }
}

/// Authority of a VM over the life cycles of others.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Authority {
    /// How much of the reserve its VMs may have at a time.
    pub memory: u64,
    /// The CPUs its VMs may run on.
    pub cpus: Set,
    /// The VMs made at boot, by their index in [`System::vms`].
    pub vms: Set,
    /// The templates, by their index in [`Dynamic::templates`].
    pub templates: Set,
    /// Whether it may make VMs from images of its own.
    pub files: bool,
    /// How urgent those from images of its own may be.
    pub priority: u8,
}

impl Authority {
    fn check<'a>(
        &self,
        vm: usize,
        dynamic: &Dynamic<'a>,
        system: &System<'a>,
    ) -> Result<(), Error<'a>> {
        let of = system.vms.get(vm).map_or("", |vm| vm.name.as_str());
        if self.priority >= Schedule::PRIORITIES {
            return invalid(of, "manages-priority", "be from 0 to 63");
        }
        let others = self.vms.is_below(system.vms.len()) && !self.vms.holds(vm);
        if !others || !self.templates.is_below(dynamic.templates.len()) {
            return invalid(of, "manages", "be other VMs and templates");
        }
        let cpus = dynamic.reserve.map_or(Set(0), |reserve| reserve.cpus);
        if !self.cpus.is_within(cpus) {
            return invalid(of, "manages-cpus", "be of the reserve");
        }
        Ok(())
    }
}

/// What a system has beyond the VMs it starts with. Static systems have none of it.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic<'a> {
    /// What VMs made at run time may take.
    pub reserve: Option<&'a Reserve>,
    /// What each VM of [`System::vms`] has authority over, or nothing if none has any.
    pub managers: &'a [Authority],
    /// VMs that are made on demand.
    pub templates: &'a [Template],
    /// Channels; the index of one is its number.
    pub channels: &'a [Channel],
    /// vLibs; the index of one is its number.
    pub vlibs: &'a [Vlib],
}

impl<'a> Dynamic<'a> {
    /// That of the manifest at the start of `bytes`, which `system` came from.
    pub fn parse(bytes: &'a [u8], system: &System<'a>) -> Result<Self, Error<'a>> {
        let tables = Tables::open(bytes)?;
        let dynamic = Self {
            reserve: tables.find()?,
            managers: tables.of_vms(system.vms.len())?,
            templates: tables.all(limits::TEMPLATES)?,
            channels: tables.all(limits::CHANNELS)?,
            vlibs: tables.all(limits::VLIBS)?,
        };
        if let Some(reserve) = dynamic.reserve {
            reserve.check()?;
            apart::reserve(reserve, system)?;
        }
        for (index, template) in dynamic.templates.iter().enumerate() {
            template.check(&dynamic)?;
            let earlier = dynamic.templates.split_at(index).0;
            apart::template(template, earlier, system)?;
        }
        for (number, channel) in dynamic.channels.iter().enumerate() {
            channel.check(number, &dynamic, system)?;
        }
        for (number, vlib) in dynamic.vlibs.iter().enumerate() {
            vlib.check(number, &dynamic, system)?;
        }
        apart::channels(&dynamic, system)?;
        apart::vlibs(&dynamic, system)?;
        for (index, template) in dynamic.templates.iter().enumerate() {
            template.check_start(index, &dynamic)?;
        }
        for (vm, authority) in dynamic.managers.iter().enumerate() {
            authority.check(vm, &dynamic, system)?;
        }
        Ok(dynamic)
    }
}

const fn invalid<'a>(
    of: &'a str,
    field: &'static str,
    must: &'static str,
) -> Result<(), Error<'a>> {
    Err(Error::Invalid { of, field, must })
}
