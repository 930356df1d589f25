"""Checks for boards with a GICv2: VMs own their cores, with direct interrupts."""

from tenonos.errors import InputError
from tenonos.system.bare import BARE
from tenonos.system.model import System


def check(system: System) -> None:
    """Refuse features that need a GICv3, at the first line that uses one."""
    if not system.board.gic.direct_only or system.mode == BARE:
        return
    for what, where in _asked(system):
        raise InputError(
            f"{what}: {system.board.name} has a GICv2, on which Mortise supports VMs with"
            " their own CPUs and direct interrupts, without channels",
            where=where,
            mend=f"leave that out, or use {_OTHER}",
        )
    serial = [vm for vm in system.vms if vm.console == "pl011"]
    for vm in serial[1:]:
        raise InputError(
            f'VM "{vm.name}" has a serial port, and "{serial[0].name}" has its interrupt, and'
            f" {system.board.name} has only one",
            where=system.at(vm),
            mend=f"use Tenon without input, or {_OTHER}",
        )


_OTHER = "a board with a GICv3"


def _asked(system: System) -> list[tuple[str, str]]:
    """The features of a system that need a GICv3, with their places."""
    asked = []
    if system.mode == "dynamic":
        asked.append(('mode = "dynamic"', system.where("mode")))
    for table, entries in (
        ("native", system.natives),
        ("channel", system.channels),
        ("vlib", system.vlibs),
    ):
        for entry in entries:
            asked.append((f'{table} "{entry.name}"', system.where(table, entry.index)))
    if system.regulation is not None:
        asked.append(("[regulation]", system.where("regulation")))
    for vm in system.vms:
        if vm.interrupts == "shared":
            asked.append((f'shared interrupts of VM "{vm.name}"', system.at(vm, "interrupts")))
        if vm.detach:
            asked.append((f'CPUs that VM "{vm.name}" lends', system.at(vm, "detach")))
        if vm.colours:
            asked.append((f'colours of VM "{vm.name}"', system.at(vm, "colours")))
    return asked
