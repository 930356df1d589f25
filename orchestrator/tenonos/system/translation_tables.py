"""Upper bound of Mortise's frames for translation tables, known before the build.

A map needs a table for each gibibyte that it covers in part, and one for each 2 MiB block that is
mapped in pages. The addresses of the image and of the status pages after it are known beforehand;
memory of VMs is mapped in blocks; log rings may be anywhere in RAM.
"""

from collections.abc import Iterable

from tenonos.system.limits import BLOCK
from tenonos.system.memory_map import LOG_SIZE, STATUS_SIZE, TASK_SIZE
from tenonos.system.model import System, Vm

GIBIBYTE = 1 << 30

_IMAGE = 1 << 20
"""The most bytes of Mortise, its tables, its manifest and status pages, without per-core data."""

_CORE = 400 << 10
"""Bytes of the largest stack of a core, and of its trace ring."""

_RANGES = 2 * 0x1_0000
"""Bytes of a core's redistributor that Mortise maps."""

_CORES_OF_DEFAULT = 4
_FRAMES_OF_CORE = 5 + 12
"""Tables of a core's map, and of a VM with a log ring (`MORTISE_PAGE_TABLES`)."""

Range = tuple[int, int]
"""Address and size."""


def over(ranges: Iterable[Range], blocks: Iterable[Range] = ()) -> int:
    """Tables below the root of a map of `ranges` in pages, and of `blocks` in blocks."""
    found = set()
    for start, size in ranges:
        found |= {(BLOCK, at) for at in range(start // BLOCK, -(-(start + size) // BLOCK))}
    for start, size in (*ranges, *blocks):
        found |= {(GIBIBYTE, at) for at in range(start // GIBIBYTE, -(-(start + size) // GIBIBYTE))}
    return len(found)


def most(system: System, cores: Iterable[int]) -> int:
    """Frames for the maps of these cores and of all VMs of a static system, in which VMs share only
    log rings and task areas with the outside."""
    cores = list(cores)
    return sum(_core(system, cpu, max(cores) + 1) for cpu in cores) + sum(
        _vm(system, vm) for vm in system.vms
    )


def beyond_default(system: System) -> int:
    """Frames in addition to the default number, which suffices for four cores and a gibibyte: for
    the map of each further core and that of a VM on it, for each further gibibyte in the maps of
    cores, and for those of the memory of VMs."""
    board = system.board
    cores = max(0, board.cpus - _CORES_OF_DEFAULT)
    mapped = -(-(board.near_end - board.ram.base) // GIBIBYTE) - 1
    own = sum(vm.memory // GIBIBYTE for vm in system.vms)
    return _FRAMES_OF_CORE * cores + mapped * (board.cpus + len(system.vms)) + own


def _core(system: System, cpu: int, cores: int) -> int:
    """Tables of a core's map; its root needs no frame."""
    board = system.board
    gic, serial = board.gic, board.serial
    ranges = [(board.image.mortise, _IMAGE + cores * _CORE), (serial.base, serial.size)]
    ranges.append((gic.distributor.base, gic.distributor.size))
    if gic.version == 2 and gic.cpu_interface:
        ranges.append((gic.cpu_interface.base, gic.cpu_interface.size))
    elif gic.redistributor:
        first = gic.redistributor.base
        ranges += [(first + core * gic.stride, _RANGES) for core in range(cores)]
    # The core of the first VM with shared interrupts serves the console, and maps all rings.
    shared = next((vm.cpus[0] for vm in system.vms if vm.interrupts == "shared"), None)
    ringed = (vm for vm in system.vms if vm.console == "ring")
    rings = sum(cpu == shared or cpu in vm.cpus for vm in ringed)
    # Worst case: each in a different gibibyte, and across the end of a block.
    gibibytes = (board.near_end - 1) // GIBIBYTE - board.ram.base // GIBIBYTE
    return over(ranges) + 2 * rings + min(rings, gibibytes)


def _vm(system: System, vm: Vm) -> int:
    """Tables of a VM's stage 2, with its root."""
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
    # Its memory is mapped one to one, and may cross the end of a gibibyte.
    gibibytes = len(range(board.ram.base // GIBIBYTE, -(-board.ram_end // GIBIBYTE)))
    return 1 + over(ranges) + min(1 + -(-vm.memory // GIBIBYTE), gibibytes)
