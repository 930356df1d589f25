"""Paths from a task's interrupt to its job, which the plugin counts on the task's own core.

The count needs no clock: neither the host's noise nor the emulator's turns are in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenonos.errors import InputError
from tenonos.run import symbols

if TYPE_CHECKING:
    from tenonos.build import Built

STEP = "step"
"""The function of an application that is its job, never inlined."""


@dataclass(frozen=True)
class LoopPath:
    """The path of one periodic task."""

    name: str
    route: tuple[int, int]


def loop_paths(built: Built) -> list[LoopPath]:
    """The paths of VMs with one task, with the function `step` of its application as its job."""
    found = []
    for vm in built.system.vms:
        if vm.kind != "tenon" or vm.app is None or len(vm.tasks) != 1:
            continue
        job = f"{vm.app.rsplit('/', 1)[-1].replace('-', '_')}::{STEP}"
        try:
            route = (symbols.interrupt(built, vm.name), symbols.address(built, vm.name, job))
        except InputError:
            continue
        found.append(LoopPath(f"{vm.name}: {vm.tasks[0].name}", route))
    return found
