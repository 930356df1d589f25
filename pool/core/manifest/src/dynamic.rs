//! [`Dynamic`] part of a system: VMs made at run time, authority over them, channels and vLibs.

use crate::tables::Tables;
use crate::{Channel, Error, Reserve, Schedule, Set, System, Template, Vlib, disjoint, limits};
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Authority of a VM over the life cycle of other VMs.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Authority {
    /// Bytes of the reserve that its VMs may use at a time.
    pub memory: u64,
    /// The CPUs on which its VMs may run.
    pub cpus: Set,
    /// VMs made at boot, by index in [`System::vms`].
    pub vms: Set,
    /// Templates, by index in [`Dynamic::templates`].
    pub templates: Set,
    /// Whether it may make VMs from its own images.
    pub files: bool,
    /// Highest priority of VMs from its own images.
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
            return Err(Error::invalid(of, "manages-priority", "be from 0 to 63"));
        }
        let others = self.vms.is_below(system.vms.len()) && !self.vms.holds(vm);
        if !others || !self.templates.is_below(dynamic.templates.len()) {
            return Err(Error::invalid(of, "manages", "be other VMs and templates"));
        }
        let cpus = dynamic.reserve.map_or(Set::EMPTY, |reserve| reserve.cpus);
        if !self.cpus.is_within(cpus) {
            return Err(Error::invalid(of, "manages-cpus", "be of the reserve"));
        }
        Ok(())
    }
}

/// Dynamic part of a system: what it has beyond the VMs made at boot. Empty in a static system.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic<'a> {
    /// Memory, slots and CPUs for VMs made at run time.
    pub reserve: Option<&'a Reserve>,
    /// Authority of each VM of [`System::vms`]; empty if no VM is a manager.
    pub managers: &'a [Authority],
    /// Templates of VMs made on demand.
    pub templates: &'a [Template],
    /// Channels; the index of one is its number.
    pub channels: &'a [Channel],
    /// vLibs; the index of one is its number.
    pub vlibs: &'a [Vlib],
}

impl<'a> Dynamic<'a> {
    /// Dynamic part of the manifest at the start of `bytes`, from which `system` was parsed.
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
            disjoint::reserve(reserve, system)?;
        }
        for (index, template) in dynamic.templates.iter().enumerate() {
            template.check(dynamic.reserve)?;
            let earlier = dynamic.templates.split_at(index).0;
            disjoint::template(template, earlier, system)?;
        }
        for (number, channel) in dynamic.channels.iter().enumerate() {
            let earlier = dynamic.channels.split_at(number).0;
            channel.check(earlier, dynamic.templates.len(), system)?;
        }
        for (number, vlib) in dynamic.vlibs.iter().enumerate() {
            let earlier = dynamic.vlibs.split_at(number).0;
            vlib.check(earlier, dynamic.channels, system)?;
        }
        disjoint::channels(&dynamic, system)?;
        disjoint::vlibs(&dynamic, system)?;
        for (index, template) in dynamic.templates.iter().enumerate() {
            template.check_start(index, dynamic.channels)?;
        }
        for (vm, authority) in dynamic.managers.iter().enumerate() {
            authority.check(vm, &dynamic, system)?;
        }
        Ok(dynamic)
    }
}
