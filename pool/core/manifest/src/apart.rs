//! What must be apart for VMs that come, go and talk to be as safe as those that stay.

use crate::{
    Channel, Console, Dynamic, Error, Mapping, MappingKind, Owner, Reserve, System, Template, Vlib,
    Vm,
};
use core_memory::PhysicalRange;

pub(crate) const PHYSICAL: &str = "physical address";

/// The reserve is nobody's yet.
pub(crate) fn reserve<'a>(reserve: &Reserve, system: &System<'a>) -> Result<(), Error<'a>> {
    let clash = |other| clash("reserve", other, PHYSICAL);
    if reserve.memory.overlaps(&reserve.slots) {
        return Err(clash("reserve"));
    }
    for vm in system.vms {
        if [reserve.memory, reserve.slots]
            .iter()
            .any(|range| has(vm, range))
        {
            return Err(clash(vm.name.as_str()));
        }
    }
    Ok(())
}

/// A template has a name of its own, and its pristine bytes are out of everybody's reach.
pub(crate) fn template<'a>(
    template: &'a Template,
    others: &'a [Template],
    system: &System<'a>,
) -> Result<(), Error<'a>> {
    let names = others.iter().map(|other| &other.name);
    for name in names.chain(system.vms.iter().map(|vm| &vm.name)) {
        if *name == template.name {
            return Err(clash(template.name.as_str(), name.as_str(), "name"));
        }
    }
    for filling in &template.fillings {
        for vm in system.vms {
            let mut mappings = vm.mappings.iter();
            if mappings.any(|mapping| mapping.physical.overlaps(&filling.source)) {
                return Err(clash(template.name.as_str(), vm.name.as_str(), PHYSICAL));
            }
        }
    }
    Ok(())
}

/// Each part of a channel is written by one end, and seen by both only.
pub(crate) fn channels<'a>(dynamic: &Dynamic<'a>, system: &System<'a>) -> Result<(), Error<'a>> {
    for (index, channel) in dynamic.channels.iter().enumerate() {
        let others = dynamic.channels.iter().take(index);
        for other in others {
            if other.name == channel.name {
                return Err(clash(channel.name.as_str(), other.name.as_str(), "name"));
            }
            let mut parts = channel.parts().into_iter();
            if parts.any(|part| other.parts().iter().any(|its| its.overlaps(&part))) {
                return Err(clash(channel.name.as_str(), other.name.as_str(), PHYSICAL));
            }
        }
        kept(channel.name.as_str(), &channel.parts(), dynamic)?;
        for (vm, description) in system.vms.iter().enumerate() {
            let reached = reaches(channel, Owner::Vm(vm as u8), &description.mappings);
            let inside = channel.parts().iter().any(|part| keeps(description, part));
            if !reached || inside {
                return Err(clash(
                    channel.name.as_str(),
                    description.name.as_str(),
                    PHYSICAL,
                ));
            }
        }
    }
    for (index, template) in dynamic.templates.iter().enumerate() {
        let owner = Owner::Template(index as u8);
        for mapping in &template.shared {
            // A template sees nothing beside its own memory but its channels.
            let own = dynamic
                .channels
                .iter()
                .find(|channel| within(channel, mapping));
            let own = own.filter(|channel| reaches(channel, owner, &template.shared));
            if own.is_none() {
                return Err(clash(
                    template.name.as_str(),
                    template.name.as_str(),
                    PHYSICAL,
                ));
            }
        }
    }
    Ok(())
}

/// The memory of a vLib is its master's and its server's, the status page for the former to read.
pub(crate) fn vlibs<'a>(dynamic: &Dynamic<'a>, system: &System<'a>) -> Result<(), Error<'a>> {
    for (index, vlib) in dynamic.vlibs.iter().enumerate() {
        let overlaps = |range: &PhysicalRange| vlib.parts().iter().any(|p| p.overlaps(range));
        for other in dynamic.vlibs.iter().take(index) {
            if other.name == vlib.name {
                return Err(clash(vlib.name.as_str(), other.name.as_str(), "name"));
            }
            if other.parts().iter().any(overlaps) {
                return Err(clash(vlib.name.as_str(), other.name.as_str(), PHYSICAL));
            }
        }
        for channel in dynamic.channels {
            if channel.parts().iter().any(overlaps) {
                return Err(clash(vlib.name.as_str(), channel.name.as_str(), PHYSICAL));
            }
        }
        kept(vlib.name.as_str(), &vlib.parts(), dynamic)?;
        for (vm, description) in system.vms.iter().enumerate() {
            let mut mappings = description.mappings.iter();
            let inside = vlib.parts().iter().any(|part| keeps(description, part));
            if inside || mappings.any(|mapping| !may_map(vlib, vm, mapping)) {
                return Err(clash(
                    vlib.name.as_str(),
                    description.name.as_str(),
                    PHYSICAL,
                ));
            }
        }
    }
    Ok(())
}

/// Whether a VM's mapping leaves a vLib alone, or reaches into it only as it may.
fn may_map(vlib: &Vlib, vm: usize, mapping: &Mapping) -> bool {
    let master = vlib.master.owner == Owner::Vm(vm as u8);
    let rights = [
        (vlib.status, master, false),
        (vlib.memory, master || usize::from(vlib.server) == vm, true),
    ];
    rights
        .iter()
        .all(|(part, reads, writes)| match mapping.kind {
            _ if !mapping.physical.overlaps(part) => true,
            MappingKind::Shared { writable } => *reads && (*writes || !writable),
            MappingKind::Ram | MappingKind::Device => false,
        })
}

/// What the reserve and the templates keep is nobody's who talks.
fn kept<'a>(
    name: &'a str,
    parts: &[PhysicalRange],
    dynamic: &Dynamic<'a>,
) -> Result<(), Error<'a>> {
    for part in parts {
        let reserve = dynamic.reserve.iter();
        let mut reserved = reserve.flat_map(|reserve| [reserve.memory, reserve.slots]);
        if reserved.any(|range| range.overlaps(part)) {
            return Err(clash(name, "reserve", PHYSICAL));
        }
        for template in dynamic.templates {
            let mut fillings = template.fillings.iter();
            if fillings.any(|filling| filling.source.overlaps(part)) {
                return Err(clash(name, template.name.as_str(), PHYSICAL));
            }
        }
    }
    Ok(())
}

/// Which parts an end may write, if it is one: the producer's, the status page, the consumer's.
fn rights(channel: &Channel, owner: Owner) -> Option<[bool; 3]> {
    match owner {
        _ if channel.from.owner == owner => Some([true, false, false]),
        _ if channel.to.owner == owner => Some([false, false, true]),
        _ => None,
    }
}

/// Whether these mappings reach into a channel only as their owner may.
fn reaches(channel: &Channel, owner: Owner, mappings: &[Mapping]) -> bool {
    let rights = rights(channel, owner);
    mappings.iter().all(|mapping| {
        channel.parts().iter().enumerate().all(|(index, part)| {
            let allowed = rights.map(|rights| rights.get(index) == Some(&true));
            match mapping.kind {
                _ if !mapping.physical.overlaps(part) => true,
                MappingKind::Shared { writable } => allowed.is_some_and(|may| may || !writable),
                MappingKind::Ram | MappingKind::Device => false,
            }
        })
    })
}

/// Whether a mapping leads into a channel and nowhere else.
fn within(channel: &Channel, mapping: &Mapping) -> bool {
    let (start, end) = (channel.producer.start(), channel.consumer.end());
    PhysicalRange::new(start, end - start).is_some_and(|all| all.contains(&mapping.physical))
}

/// Whether a VM has, or Mortise keeps for it, any of a range.
pub(crate) fn has(vm: &Vm, range: &PhysicalRange) -> bool {
    let mut mappings = vm.mappings.iter();
    mappings.any(|mapping| mapping.physical.overlaps(range)) || keeps(vm, range)
}

/// Whether any of a range is what Mortise keeps for a VM.
fn keeps(vm: &Vm, range: &PhysicalRange) -> bool {
    let log = match vm.console {
        Console::Ring(log) => Some(log),
        Console::None | Console::Pl011 => None,
    };
    let sources = vm.payloads.iter().map(|payload| payload.source);
    let mut kept = sources.chain([vm.status]).chain(log);
    kept.any(|own| own.overlaps(range))
}

pub(crate) const fn clash<'a>(of: &'a str, other: &'a str, what: &'static str) -> Error<'a> {
    Error::Clash { of, other, what }
}
