"""Translation tables: how many frames Mortise takes for them, at most, before anything is built.

A map takes a table for each gibibyte of which it has something, and one for each 2 MiB block that
it has in pages. Where the image lies is known beforehand, and so where status pages are, which
stand behind it; memory of VMs is in blocks; log rings lie somewhere in RAM.
"""

from collections.abc import Iterable

from tenonos.system.limits import BLOCK
from tenonos.system.memory_map import LOG_SIZE, STATUS_SIZE, TASK_SIZE
from tenonos.system.model import System, Vm

GIBIBYTE = 1 << 30

_IMAGE = 1 << 20
"""Bytes that Mortise, its tables, its manifest and status pages have at most, but for what each
core has."""

_CORE = 400 << 10
"""Bytes of the largest stack of a core, and of its ring of a trace."""

_RANGES = 2 * 0x1_0000
"""Of a core's redistributor, what Mortise maps."""

Range = tuple[int, int]
"""Where something is, and its bytes."""


def over(ranges: Iterable[Range], blocks: Iterable[Range] = ()) -> int:
    """Tables below the root of a map of these ranges in pages, and of those in blocks."""
    found = set()
    for start, size in ranges:
        found |= {(BLOCK, at) for at in range(start // BLOCK, -(-(start + size) // BLOCK))}
    for start, size in (*ranges, *blocks):
        found |= {(GIBIBYTE, at) for at in range(start // GIBIBYTE, -(-(start + size) // GIBIBYTE))}
    return len(found)


def most(system: System, cores: Iterable[int]) -> int:
    """Frames for the maps of these cores and of all VMs of a static system, in which VMs share
    nothing but log rings and the areas of their tasks with the outside."""
    cores = list(cores)
    return sum(_core(system, cpu, max(cores) + 1) for cpu in cores) + sum(
        _vm(system, vm) for vm in system.vms
    )


def _core(system: System, cpu: int, cores: int) -> int:
    """Those of a core, whose root takes no frame."""
    board = system.board
    gic, serial = board.gic, board.serial
    ranges = [(board.image.mortise, _IMAGE + cores * _CORE), (serial.base, serial.size)]
    ranges.append((gic.distributor.base, gic.distributor.size))
    if gic.version == 2 and gic.cpu_interface:
        ranges.append((gic.cpu_interface.base, gic.cpu_interface.size))
    elif gic.redistributor:
        first = gic.redistributor.base
        ranges += [(first + core * gic.stride, _RANGES) for core in range(cores)]
    # The first whose interrupts come to Mortise has its core serve the console, with all rings.
    shared = next((vm.cpus[0] for vm in system.vms if vm.interrupts == "shared"), None)
    ringed = (vm for vm in system.vms if vm.console == "ring")
    rings = sum(cpu == shared or cpu in vm.cpus for vm in ringed)
    # Each in a gibibyte of its own if RAM has as many, and across the end of a block.
    gibibytes = (board.ram_end - 1) // GIBIBYTE - board.ram.base // GIBIBYTE
    return over(ranges) + 2 * rings + min(rings, gibibytes)


def _vm(system: System, vm: Vm) -> int:
    """Those of a VM's stage 2, with its root."""
    board = system.board
    ranges = [frame for name in vm.devices for frame in board.devices[name].frames]
    if board.gic.version == 2 and board.gic.cpu_interface:
        ranges.append((board.gic.cpu_interface.base, STATUS_SIZE))
    if vm.foreign is not None:
        memory = [(vm.foreign.seen_at, vm.memory), *((r.at, r.size) for r in vm.foreign.regions)]
        return 1 + over(ranges, memory)
    if vm.kind == "tenon":
        log = LOG_SIZE if vm.console == "ring" else 0
        ranges.append((board.image.shared, STATUS_SIZE + log + len(vm.tasks) * TASK_SIZE))
        return 1 + over(ranges, [(board.ram.base, vm.memory)])
    # It sees its memory where that is, which may be across the end of a gibibyte.
    gibibytes = len(range(board.ram.base // GIBIBYTE, -(-board.ram_end // GIBIBYTE)))
    return 1 + over(ranges) + min(1 + -(-vm.memory // GIBIBYTE), gibibytes)
