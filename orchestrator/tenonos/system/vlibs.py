"""vLibs, Linux VMs that a Tenon VM calls as a library: checks.

A vLib's memory is in whole pages: a status page that Mortise writes and the master reads, then the
shared memory. The Linux VM is descheduled between calls, so it serves one vLib.
"""

from tenonos.errors import InputError
from tenonos.system import channels
from tenonos.system.limits import ENDS, MAPPINGS, PAGE, VLIBS
from tenonos.system.model import System, Vlib, Vm

LARGEST = 16 << 20
"""The most bytes shared by master and server."""


def called_by(system: System, vm: Vm) -> list[Vlib]:
    """The vLibs that a VM calls, in their order."""
    return [vlib for vlib in system.vlibs if vlib.master == vm.name]


def served_by(system: System, vm: Vm) -> list[Vlib]:
    """The vLibs that a VM serves: one, after the checks."""
    return [vlib for vlib in system.vlibs if vlib.server == vm.name]


def check(system: System) -> None:
    """Refuse vLibs that cannot be called or served."""
    names = {
        channel.name: "channel"
        for channel in system.channels
        if any(v.server in (channel.origin, channel.to) for v in system.vlibs)
    } | {channels.CONTROL: "device"}
    for vlib in system.vlibs:
        _size(system, vlib)
        _ends(system, vlib)
        if vlib.name in names:
            raise InputError(
                f'vLib "{vlib.name}" is called like a {names[vlib.name]}',
                where=system.where("vlib", vlib.index, "name"),
                mend="rename it",
            )
        names[vlib.name] = "vLib before it"
    for vm in system.vms:
        _room(system, vm)


def _size(system: System, vlib: Vlib) -> None:
    if vlib.index >= VLIBS:
        raise InputError(
            f"more than {VLIBS} vLibs", where=system.where("vlib", vlib.index), mend="use fewer"
        )
    if vlib.size % PAGE or not 0 < vlib.size <= LARGEST:
        raise InputError(
            f'size of vLib "{vlib.name}" is not a multiple of 4K up to 16M',
            where=system.where("vlib", vlib.index, "size"),
            mend='for example size = "64K"',
        )


def _ends(system: System, vlib: Vlib) -> None:
    known = {vm.name: vm for vm in system.vms}
    for key, name, kind in (("master", vlib.master, "tenon"), ("server", vlib.server, "linux")):
        vm, where = known.get(name), system.where("vlib", vlib.index, key)
        if vm is None or vm.kind != kind:
            fitting = [other.name for other in system.vms if other.kind == kind]
            raise InputError(
                f'{key} of vLib "{vlib.name}" is "{name}", which is not a {kind.capitalize()} VM',
                where=where,
                mend=f"use {' or '.join(fitting)}" if fitting else f"add a {kind} VM",
            )
    master, server = known[vlib.master], known[vlib.server]
    if len(master.cpus) > 1:
        raise InputError(
            f'master of vLib "{vlib.name}" has {len(master.cpus)} CPUs',
            where=system.where("vlib", vlib.index, "master"),
            mend="its calls use the budget of threads of one CPU; give it one",
        )
    if server.detach:
        raise InputError(
            f'server of vLib "{vlib.name}" is "{server.name}", which lends CPUs to programs',
            where=system.where("vlib", vlib.index, "server"),
            mend="it is descheduled as a whole, but lent CPUs are not; use another VM",
        )
    if len(served_by(system, server)) > 1:
        first = served_by(system, server)[0]
        raise InputError(
            f'VM "{server.name}" serves vLib "{first.name}" already',
            where=system.where("vlib", served_by(system, server)[1].index, "server"),
            mend="it is descheduled between calls of that one; use another VM",
        )
    if vlib.virtual_time and any(system.is_shared(cpu) for cpu in server.cpus):
        raise InputError(
            f'vLib "{vlib.name}" has virtual time, and its server shares a CPU',
            where=system.where("vlib", vlib.index, "time"),
            mend='write time = "real", or give the server CPUs of its own',
        )


def _room(system: System, vm: Vm) -> None:
    called, ends = called_by(system, vm), channels.ends(system, vm)
    both = called + served_by(system, vm)
    mappings = 1 + 2 * (vm.kind == "tenon") + len(vm.tasks) + len(vm.devices) + 2 * len(ends)
    if both and (mappings + 2 * len(both) > MAPPINGS or len(ends) + len(called) > ENDS):
        raise InputError(
            f'VM "{vm.name}" has more tasks, devices, channels and vLibs than a VM may',
            where=system.at(vm, "name"),
            mend="give it fewer",
        )
