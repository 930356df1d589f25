"""Dynamic VMs: checks of the reserve, templates and management authority."""

from tenonos.errors import InputError
from tenonos.system.limits import BLOCK, BLOCKS, SHARED_CORES, TEMPLATES, VCPUS
from tenonos.system.model import Manages, Reserve, System, Template, Vm


def check(system: System) -> None:
    """Refuse templates that could not be created at run time, or that no VM may create."""
    if system.mode == "static":
        _static(system)
    if system.reserve is not None:
        _reserve(system, system.reserve)
    for template in system.templates:
        _template(system, template)
    for vm in system.vms:
        if vm.manages is not None:
            _manages(system, vm, vm.manages)
    if system.mode == "dynamic":
        _shared(system)


def _shared(system: System) -> None:
    """Refuse shared cores for which the dispatcher has no state."""
    for cpu in range(SHARED_CORES, system.board.cpus):
        if system.is_shared(cpu):
            takers = system.takers(cpu)
            raise InputError(
                f"VMs share CPU {cpu}, and only the first {SHARED_CORES} can be shared",
                where=system.at(takers[-1], "cpus") if takers else system.where("reserve", "cpus"),
                mend=f"use 0 to {SHARED_CORES - 1} for it",
            )


def _static(system: System) -> None:
    what = ""
    if system.templates:
        what, where = "templates", system.at(system.templates[0].vm)
    elif system.reserve is not None:
        what, where = "a reserve", system.where("reserve")
    elif manager := next((vm for vm in system.vms if vm.manages), None):
        what, where = f'VM "{manager.name}" as a manager', system.at(manager, "manages")
    if what:
        raise InputError(
            f"a static system cannot have {what}", where=where, mend='write mode = "dynamic"'
        )


def _reserve(system: System, reserve: Reserve) -> None:
    if reserve.memory % BLOCK:
        raise InputError(
            "memory of the reserve is not a multiple of 2 MiB",
            where=system.where("reserve", "memory"),
            mend='for example memory = "32M"',
        )
    if reserve.memory > BLOCKS * BLOCK:
        raise InputError(
            "the reserve has more than 256M",
            where=system.where("reserve", "memory"),
            mend="give more to VMs at boot",
        )
    where = system.where("reserve", "cpus")
    for cpu in reserve.cpus:
        if not 0 <= cpu < system.board.cpus:
            raise InputError(
                f"there is no CPU {cpu}: {system.board.name} has {system.board.cpus}",
                where=where,
                mend=f"use 0 to {system.board.cpus - 1}",
            )
    if len(set(reserve.cpus)) < len(reserve.cpus):
        raise InputError("a CPU is in the reserve twice", where=where, mend="name it once")
    if len(reserve.cpus) > VCPUS:
        raise InputError(
            f"the reserve has {len(reserve.cpus)} CPUs", where=where, mend=f"at most {VCPUS}"
        )


def _template(system: System, template: Template) -> None:
    vm, reserve = template.vm, system.reserve
    if vm.index >= TEMPLATES:
        raise InputError(f"more than {TEMPLATES} templates", where=system.at(vm), mend="use fewer")
    if len(vm.name) > 16:
        raise InputError(
            f'name of template "{vm.name}" has more than 16 characters',
            where=system.at(vm, "name"),
            mend="a request has 16 bytes for it; shorten it",
        )
    if reserve is None:
        raise InputError(
            f'no reserve to create template "{vm.name}" from',
            where=system.at(vm),
            mend='add [reserve] with memory = "32M" and cpus = [2]',
        )
    if vm.memory > reserve.memory:
        raise InputError(
            f'template "{vm.name}" needs more memory than the reserve has',
            where=system.at(vm, "memory"),
            mend=f"at most {reserve.memory >> 20}M",
        )
    _of_reserve(system, vm.cpus, reserve, f'template "{vm.name}"', system.at(vm, "cpus"))
    if template.start_on is None:
        return
    channel = next((each for each in system.channels if each.name == template.start_on), None)
    if channel is None or channel.to != vm.name:
        known = [each.name for each in system.channels if each.to == vm.name]
        mend = f"use {' or '.join(known)}" if known else f'add a channel with to = "{vm.name}"'
        raise InputError(
            f'start_on = "{template.start_on}": no channel of that name goes to "{vm.name}"',
            where=system.at(vm, "start_on"),
            mend=mend,
        )


def _manages(system: System, vm: Vm, manages: Manages) -> None:
    known = [guest.name for guest in system.guests if guest.name != vm.name]
    for name in manages.vms:
        if name != "*" and name not in known:
            own = "itself" if name == vm.name else f'"{name}"'
            raise InputError(
                f'VM "{vm.name}" cannot manage {own}',
                where=system.at(vm, "manages", "vms"),
                mend=f"use {', '.join([*known, '*'])}",
            )
    makes = manages.files or any(t.vm.name in manages.vms for t in system.templates)
    if not makes:
        return
    reserve = system.reserve
    if reserve is None:
        raise InputError(
            f'nothing for VM "{vm.name}" to create VMs from',
            where=system.at(vm, "manages"),
            mend='add [reserve] with memory = "32M" and cpus = [2]',
        )
    part = system.at(vm, "manages", "memory")
    most = f'"{reserve.memory >> 20}M"'
    if manages.memory > reserve.memory:
        raise InputError(
            f'VM "{vm.name}" may create VMs with more memory than the reserve has',
            where=part,
            mend=f"use at most {most}",
        )
    if manages.memory < BLOCK or not manages.cpus:
        raise InputError(
            f'VM "{vm.name}" may create VMs, but has no part of the reserve for them',
            where=part,
            mend=f"give it memory, at most {most}, and cpus",
        )
    where = system.at(vm, "manages", "cpus")
    _of_reserve(system, manages.cpus, reserve, f'VM "{vm.name}"', where)


def _of_reserve(
    system: System, cpus: tuple[int, ...], reserve: Reserve, who: str, where: str
) -> None:
    for cpu in cpus:
        if cpu not in reserve.cpus:
            has = ", ".join(map(str, reserve.cpus))
            raise InputError(
                f"{who} names CPU {cpu}, which is not in the reserve",
                where=where,
                mend=f"use {has}",
            )
