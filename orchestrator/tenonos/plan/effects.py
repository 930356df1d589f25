"""Rules of mechanisms: the keys of `system.toml` without which a demand has no effect.

A library that is linked does nothing where the system states no cores to lend, no disk, no limit.
Each such capability has its rule here; a demand with a rule that has no VM to act on is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tenonos.paths import ROOT
from tenonos.plan.models import Guest, Item, Missing, Plan, shares_cores
from tenonos.system import board as boards
from tenonos.system.board import Board
from tenonos.system.schema import (
    DetachSpec,
    DiskSpec,
    RegulationSpec,
    ReserveSpec,
    SystemSpec,
    VlibSpec,
    VmSpec,
)
from tenonos.system.units import size_text

BANDWIDTH, DETACH, DISK, DRIVE, VLIB = (
    "virt.bandwidth",
    "virt.detach",
    "virt.disk",
    "virt.drive",
    "virt.vlib",
)
OF_A_LINUX = frozenset([BANDWIDTH, DETACH, DISK, DRIVE, VLIB])
"""Capabilities that act on a Linux VM, or by one."""
CYCLES = 500_000
"""Half of a millisecond of a core, at the 1 GHz at which an emulated core counts."""
REFILLS = 10_000
"""Refills of the L2 cache in a millisecond: 64 bytes each, 640 MB/s."""
DISK_SIZE = 16 << 20
"""Room for the file system of a guest without a stated size."""
OFFSET = 1 << 20
MODULES = ["virtio_mmio", "virtio_blk"]
"""The drivers of Linux for a virtual disk."""
EXAMPLE = ROOT / "examples" / "systems" / "vlib"
CALLED = "classifier"
"""The vLib that the calling application of the pool opens."""


def demanded(items: Sequence[Item]) -> frozenset[str]:
    """The demanded capabilities with a rule."""
    values = {str(item.value) for item in items if item.kind == "capability"}
    return frozenset(values & OF_A_LINUX)


def of_mortise(items: Sequence[Item]) -> Iterator[str]:
    """The capabilities of the hypervisor without which these have no effect."""
    asked = demanded(items)
    if BANDWIDTH in asked:
        yield "virt.dispatch"
    if VLIB in asked:
        yield VLIB


def is_regulated(items: Sequence[Item]) -> bool:
    """Whether demands regulate the cores of Linux, on which a scheduler then runs."""
    return BANDWIDTH in demanded(items)


def missing(guests: Sequence[Guest], items: Sequence[Item]) -> Iterator[Missing]:
    """Demands with a rule that has nothing to act on."""
    there = any(guest.kind == "linux" for guest in guests)
    for item in items:
        if item.kind == "capability" and item.value in OF_A_LINUX and not there:
            yield Missing(capability=str(item.value), source=item.source)


def keyed(
    spec: SystemSpec, plan: Plan, cpus: Mapping[str, Sequence[int]], board: Board
) -> SystemSpec:
    """The system with the keys of each demanded mechanism."""
    for name in sorted(demanded(plan.items)):
        spec = _RULES[name](spec, plan, cpus, board)
    return spec


def files(items: Sequence[Item]) -> dict[str, str]:
    """The files that these keys name."""
    if VLIB not in demanded(items):
        return {}
    names = (f"{CALLED}.c", "root/etc/start")
    return {name: (EXAMPLE / Path(name)).read_text(encoding="utf-8") for name in names}


def _linux(spec: SystemSpec) -> VmSpec:
    return next(vm for vm in spec.vm if vm.kind == "linux")


def _with(spec: SystemSpec, vm: VmSpec, **more: Any) -> SystemSpec:
    vms = [each.model_copy(update=more) if each is vm else each for each in spec.vm]
    return spec.model_copy(update={"vm": vms})


def _bandwidth(
    spec: SystemSpec, plan: Plan, cpus: Mapping[str, Sequence[int]], board: Board
) -> SystemSpec:
    """A scheduler on the cores of Linux, and a limit of what its background may cause."""
    own = [cpu for vm in spec.vm if vm.kind == "linux" for cpu in cpus[vm.name]]
    played = board.name in boards.played()
    event, each = ("cycles", CYCLES) if played else ("l2-refill", REFILLS)
    limit = RegulationSpec(event=event, limit=each * len(own))
    update: dict[str, Any] = {"mode": "dynamic", "regulation": limit}
    if not shares_cores(plan.items) and spec.reserve is None:
        update["reserve"] = ReserveSpec(memory="2M", cpus=sorted(own))
    return spec.model_copy(update=update)


def _detach(
    spec: SystemSpec, plan: Plan, cpus: Mapping[str, Sequence[int]], board: Board
) -> SystemSpec:
    """The last core of Linux is lent."""
    vm = max((vm for vm in spec.vm if vm.kind == "linux"), key=lambda vm: len(cpus[vm.name]))
    return _with(spec, vm, detach=DetachSpec(cpus=[cpus[vm.name][-1]]))


def _size(plan: Plan) -> str:
    sizes = (i.value for i in plan.items if i.kind == "disk" and isinstance(i.value, int))
    return size_text(next(sizes, DISK_SIZE))


def _disk(
    spec: SystemSpec, plan: Plan, cpus: Mapping[str, Sequence[int]], board: Board
) -> SystemSpec:
    """A disk in memory for the first Linux, with its drivers."""
    vm = _linux(spec)
    disk = DiskSpec(vm=vm.name, size=_size(plan))
    spec = spec.model_copy(update={"disk": [*spec.disk, disk]})
    return _with(spec, vm, modules=MODULES)


def _drive(
    spec: SystemSpec, plan: Plan, cpus: Mapping[str, Sequence[int]], board: Board
) -> SystemSpec:
    """A disk of the board, with a part of it for each Linux."""
    device = next(n for n, d in board.devices.items() if d.kind == "virtio-mmio")
    vms = [vm for vm in spec.vm if vm.kind == "linux"]
    each = DISK_SIZE
    whole = size_text(OFFSET + each * len(vms))
    disks = [DiskSpec(name="main", device=device, size=whole)]
    for number, vm in enumerate(vms):
        at = size_text(OFFSET + number * each)
        disks.append(DiskSpec(vm=vm.name, on="main", at=at, size=size_text(each)))
        spec = _with(spec, vm, modules=MODULES)
    return spec.model_copy(update={"disk": [*spec.disk, *disks]})


def _vlib(
    spec: SystemSpec, plan: Plan, cpus: Mapping[str, Sequence[int]], board: Board
) -> SystemSpec:
    """The Linux that the calling VM stops and resumes, with the program that is called."""
    callers = [i.image for i in plan.items if (i.kind, i.value) == ("capability", VLIB)]
    master = next(vm.name for vm in spec.vm if vm.name in callers)
    server = _linux(spec)
    vlib = VlibSpec(name=CALLED, master=master, server=server.name, size="4K")
    spec = spec.model_copy(update={"vlib": [vlib]})
    return _with(spec, server, programs=[f"{CALLED}.c"], files="root")


_RULES: Mapping[
    str, Callable[[SystemSpec, Plan, Mapping[str, Sequence[int]], Board], SystemSpec]
] = {BANDWIDTH: _bandwidth, DETACH: _detach, DISK: _disk, DRIVE: _drive, VLIB: _vlib}
