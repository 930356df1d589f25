"""Drawing of a system: a column for each core, a row for each VM and each native task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tenonos.system import System, Vm
from tenonos.system.bare import BARE
from tenonos.system.units import duration_text, size_text

_OF = {"tenon": "Tenon", "linux": "Linux", "image": "image"}
"""The guest in a VM of each kind."""


@dataclass(frozen=True)
class Row:
    """What runs on some of the cores."""

    name: str
    kind: str
    """The kind of a VM, `native`, or `mortise`: its colour in the drawing."""
    about: str
    cells: tuple[str | None, ...]
    """For each core the words for its part of it, or None if it has none there."""


def rows(system: System) -> list[Row]:
    """The VMs, on shared cores the most urgent first, then native tasks, then Mortise."""
    cpus = range(system.board.cpus)
    vms = sorted(system.guests, key=lambda vm: -vm.share.priority)
    drawn = [
        Row(vm.name, vm.kind, _about(vm), tuple(_part(system, vm, cpu) for cpu in cpus))
        for vm in vms
    ]
    for native in system.natives:
        cells = tuple("task" if cpu == native.cpu else None for cpu in cpus)
        drawn.append(Row(native.name, "native", f"native task: {native.app}", cells))
    if system.mode != BARE:
        drawn.append(Row("Mortise", "mortise", "hypervisor", tuple("EL2" for _ in cpus)))
    return drawn


def _about(vm: Vm) -> str:
    return ", ".join(
        (
            f"{_OF[vm.kind]}: {vm.app}" if vm.app else _OF[vm.kind],
            *(["made on demand"] if vm.table == "template" else []),
            size_text(vm.memory),
            *vm.devices,
        )
    )


def _part(system: System, vm: Vm, cpu: int) -> str | None:
    """The words for the part of a core that a VM has."""
    if cpu not in vm.cpus:
        return None
    words = f"vCPU {vm.cpus.index(cpu)}"
    if cpu in vm.detach:
        words += ", may be lent to a program"
    return ", ".join((words, *(_share(vm) if system.is_shared(cpu) else ())))


def _share(vm: Vm) -> Iterator[str]:
    """The scheduling parameters of a VM on a shared core."""
    share = vm.share
    yield f"priority {share.priority}"
    if share.budget is not None and share.period is not None:
        yield f"{duration_text(share.budget)} of {duration_text(share.period)}"
