//! Checks of the VMs of a system, each alone and in pairs.

use crate::{Console, Error, InterruptMode, Mapping, MappingKind, Mode, Vm};
use core_memory::PhysicalRange;

/// Checks each VM alone.
pub(crate) fn vms(vms: &[Vm]) -> Result<(), Error<'_>> {
    // All ranges are validated before any two are compared.
    vms.iter().try_for_each(Vm::check)?;
    vms.iter().try_for_each(check_alone)
}

/// Checks each VM against the VMs before it in the table.
pub(crate) fn pairs(vms: &[Vm], mode: Mode) -> Result<(), Error<'_>> {
    let mut pairs = with_earlier(vms).flat_map(|(vm, others)| others.iter().map(move |o| (vm, o)));
    pairs.try_for_each(|(vm, other)| check_pair(vm, other, mode))
}

fn check_alone(vm: &Vm) -> Result<(), Error<'_>> {
    let clash = |what| {
        Err(Error::Clash {
            of: vm.name.as_str(),
            other: vm.name.as_str(),
            what,
        })
    };
    if has_duplicate(&vm.cpus) {
        return clash("CPU");
    }
    if has_duplicate(&vm.interrupts) {
        return clash("interrupt");
    }
    for (mapping, others) in with_earlier(&vm.mappings) {
        let (mut others, mut same) = (others.iter(), others.iter());
        if others.any(|other| other.intermediate.overlaps(&mapping.intermediate)) {
            return clash("intermediate physical address");
        }
        if same.any(|other| exclude_each_other(mapping, other)) {
            return clash("physical address");
        }
    }
    // A VM writes its log ring, but must not write its pristine payloads or its status page.
    let copied = vm.payloads.iter().filter(|payload| !payload.is_in_place());
    let sources = copied.map(|payload| payload.source);
    if sources.chain([vm.status]).any(|kept| can_write(vm, &kept)) {
        return clash("physical address");
    }
    Ok(())
}

fn check_pair<'a>(vm: &'a Vm, other: &'a Vm, mode: Mode) -> Result<(), Error<'a>> {
    let clash = |what| {
        Err(Error::Clash {
            of: other.name.as_str(),
            other: vm.name.as_str(),
            what,
        })
    };
    if vm.name == other.name {
        return clash("name");
    }
    // A VM with direct interrupts cannot be preempted, so it cannot share a core.
    let shared = |vm: &Vm| vm.interrupt_mode == InterruptMode::Shared;
    let may_share = mode == Mode::Dynamic && shared(vm) && shared(other);
    if !may_share && vm.cpus.iter().any(|cpu| other.cpus.contains(cpu)) {
        return clash("CPU");
    }
    if vm
        .interrupts
        .iter()
        .any(|number| other.interrupts.contains(number))
    {
        return clash("interrupt");
    }
    if vm.status.overlaps(&other.status) {
        return clash("status page");
    }
    let mut pairs = vm
        .mappings
        .iter()
        .flat_map(|a| other.mappings.iter().map(move |b| (a, b)));
    if pairs.any(|(a, b)| exclude_each_other(a, b)) {
        return clash("physical address");
    }
    if can_corrupt(vm, other) || can_corrupt(other, vm) {
        return clash("physical address");
    }
    Ok(())
}

/// Whether two mappings overlap although at least one of them is not shared memory.
fn exclude_each_other(a: &Mapping, b: &Mapping) -> bool {
    let both_shared = matches!(
        (a.kind, b.kind),
        (MappingKind::Shared { .. }, MappingKind::Shared { .. })
    );
    !both_shared && a.physical.overlaps(&b.physical)
}

/// Whether `vm` can write the payload sources, the status page or the log ring of `other`.
fn can_corrupt(vm: &Vm, other: &Vm) -> bool {
    let log = match other.console {
        Console::Ring(log) => Some(log),
        Console::None | Console::Pl011 => None,
    };
    let sources = other.payloads.iter().map(|payload| payload.source);
    let kept = sources.chain([other.status]).chain(log);
    kept.into_iter().any(|range| can_write(vm, &range))
}

fn can_write(vm: &Vm, range: &PhysicalRange) -> bool {
    let read_only = MappingKind::Shared { writable: false };
    let mut mappings = vm.mappings.iter();
    mappings.any(|mapping| mapping.kind != read_only && mapping.physical.overlaps(range))
}

fn has_duplicate<T: PartialEq>(items: &[T]) -> bool {
    with_earlier(items).any(|(item, earlier)| earlier.contains(item))
}

/// Each item, with the items before it.
fn with_earlier<T>(items: &[T]) -> impl Iterator<Item = (&T, &[T])> {
    items
        .iter()
        .enumerate()
        .map(|(index, item)| (item, items.split_at(index).0))
}
