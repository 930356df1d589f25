//! Disjointness checks of the ranges of [`Dynamic`] and [`System`].

use crate::{
    Channel, Console, Dynamic, Error, Mapping, MappingKind, Owner, Reserve, System, Template, Vlib,
    Vm,
};
use core_memory::PhysicalRange;

pub(crate) const PHYSICAL: &str = "physical address";

/// Checks that no VM maps or uses memory of the reserve.
pub(crate) fn reserve<'a>(reserve: &Reserve, system: &System<'a>) -> Result<(), Error<'a>> {
    let clash = |other| clash("reserve", other, PHYSICAL);
    if reserve.memory.overlaps(&reserve.slots) {
        return Err(clash("reserve"));
    }
    for vm in system.vms {
        if [reserve.memory, reserve.slots]
            .iter()
            .any(|range| uses(vm, range))
        {
            return Err(clash(vm.name.as_str()));
        }
    }
    Ok(())
}

/// Checks that a template's name is unique and that no VM maps its pristine payloads.
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

/// Checks that each part of a channel is writable by one end only and mapped by no third VM.
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
        unreserved(channel.name.as_str(), &channel.parts(), dynamic)?;
        for (vm, description) in system.vms.iter().enumerate() {
            let respected = respects_rights(channel, Owner::Vm(vm as u8), &description.mappings);
            let inside = channel
                .parts()
                .iter()
                .any(|part| is_used_for(description, part));
            if !respected || inside {
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
            // A template may map only its own memory and its ends of channels.
            let own = dynamic
                .channels
                .iter()
                .find(|channel| within(channel, mapping));
            let own = own.filter(|channel| respects_rights(channel, owner, &template.shared));
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

/// Checks that only master and server map a vLib's memory, and only the master its status page,
/// read-only.
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
        unreserved(vlib.name.as_str(), &vlib.parts(), dynamic)?;
        for (vm, description) in system.vms.iter().enumerate() {
            let mut mappings = description.mappings.iter();
            let inside = vlib
                .parts()
                .iter()
                .any(|part| is_used_for(description, part));
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

/// Whether a mapping of `vm` is disjoint from a vLib or has permitted access rights to it.
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
            MappingKind::Ram | MappingKind::Device | MappingKind::Area => false,
        })
}

/// Checks that shared memory overlaps neither the reserve nor the payloads of templates.
fn unreserved<'a>(
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

/// Which parts (producer's, status page, consumer's) `owner` may write, if it is an end of the channel.
fn rights(channel: &Channel, owner: Owner) -> Option<[bool; 3]> {
    match owner {
        _ if channel.from.owner == owner => Some([true, false, false]),
        _ if channel.to.owner == owner => Some([false, false, true]),
        _ => None,
    }
}

/// Whether all mappings of `owner` have permitted access rights to a channel.
fn respects_rights(channel: &Channel, owner: Owner, mappings: &[Mapping]) -> bool {
    let rights = rights(channel, owner);
    mappings.iter().all(|mapping| {
        channel.parts().iter().enumerate().all(|(index, part)| {
            let allowed = rights.map(|rights| rights.get(index) == Some(&true));
            match mapping.kind {
                _ if !mapping.physical.overlaps(part) => true,
                MappingKind::Shared { writable } => allowed.is_some_and(|may| may || !writable),
                MappingKind::Ram | MappingKind::Device | MappingKind::Area => false,
            }
        })
    })
}

/// Whether a mapping lies within a channel.
fn within(channel: &Channel, mapping: &Mapping) -> bool {
    let (start, end) = (channel.producer.start(), channel.consumer.end());
    PhysicalRange::new(start, end - start).is_some_and(|all| all.contains(&mapping.physical))
}

/// Whether a VM maps any of a range, or Mortise uses any of it for the VM.
pub(crate) fn uses(vm: &Vm, range: &PhysicalRange) -> bool {
    let mut mappings = vm.mappings.iter();
    mappings.any(|mapping| mapping.physical.overlaps(range)) || is_used_for(vm, range)
}

/// Whether a range overlaps a payload source, the status page or the log ring of a VM.
fn is_used_for(vm: &Vm, range: &PhysicalRange) -> bool {
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
