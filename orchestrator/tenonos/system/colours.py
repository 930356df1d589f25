"""Page colours: partitions of a shared cache for the memory of VMs.

`colours` of a VM is the number of its colours. They are assigned here, in the order of the file.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tenonos.errors import InputError
from tenonos.system.devices import DMA
from tenonos.system.limits import BLOCK, PAGE
from tenonos.system.memory_map import LOG_SIZE, STATUS_SIZE, TASK_SIZE, ColouredMemory
from tenonos.system.model import System, Vm
from tenonos.system.translation_tables import over

MOST = 64
"""The most colours of a cache (pool/core/colouring has a word of bits)."""


def check(system: System) -> None:
    """Refuse colours beyond the board's, and devices or areas that would break the isolation."""
    coloured = [vm for vm in system.vms if vm.colours is not None]
    if not coloured:
        return
    cache, left = system.board.cache, 0
    if cache is not None:
        left = cache.colours
    if cache is None or not 2 <= left <= MOST or left & (left - 1):
        raise InputError(
            f"{system.board.name} declares no cache with colours",
            where=system.at(coloured[0], "colours"),
            mend="add [cache] with size, ways and line to its board.toml, or remove colours",
        )
    for vm in coloured:
        assert vm.colours is not None
        if vm.colours > left:
            all_of = cache.colours
            have = f"{left} of {all_of} are left" if left else f"all {all_of} are given"
            raise InputError(
                f'VM "{vm.name}" asks for {vm.colours} colours, and {have}',
                where=system.at(vm, "colours"),
                mend="give it fewer, or another VM",
            )
        left -= vm.colours
        _apart(system, vm)


def _apart(system: System, vm: Vm) -> None:
    """Refuse colours for a VM with fixed addresses or shared memory."""
    devices = [name for name in vm.devices if system.board.devices[name].kind in DMA]
    channels = [c.name for c in system.channels if vm.name in (c.origin, c.to)]
    vlibs = [v.name for v in system.vlibs if vm.name in (v.master, v.server)]
    shared = "what VMs share has no colour"
    for key, what, mend in (
        ("kind", "an image of any kind" if vm.kind == "image" else None, "remove its colours"),
        ("memory_at", "a place for its memory" if vm.memory_at is not None else None, "remove it"),
        (
            "devices",
            f'device "{devices[0]}", which reaches memory without an SMMU' if devices else None,
            "give the device to a VM without colours",
        ),
        ("in_place", "a boot loader to fill it" if vm.in_place else None, "leave in_place out"),
        ("detach", "cores to lend" if vm.detach else None, "remove [vm.detach]"),
        ("manages", "others to manage" if vm.manages else None, "let another VM do it"),
        ("colours", f'channel "{channels[0]}"' if channels else None, shared),
        ("colours", f'vLib "{vlibs[0]}"' if vlibs else None, shared),
    ):
        if what is not None:
            raise InputError(
                f'VM "{vm.name}" has colours and {what}', where=system.at(vm, key), mend=mend
            )


def warnings(system: System) -> Iterator[str]:
    """Warnings about VMs without colours on the cache of VMs with colours."""
    coloured = [vm for vm in system.vms if vm.colours is not None]
    others = [vm for vm in system.guests if vm.colours is None]
    if not coloured or (not others and system.reserve is None):
        return
    who = f'VM "{others[0].name}"' if others else "the reserve"
    where = system.at(others[0]) if others else system.where("reserve")
    yield (
        f"{where}: {who} has no colours and displaces from the whole cache: nothing is isolated; "
        "give every VM colours"
    )


def divide(system: System, find: Callable[[int, int], int | None]) -> ColouredMemory | None:
    """The memory that VMs with colours have, none without colours.

    `find` returns the address of free RAM of a size and alignment.
    """
    if not any(vm.colours for vm in system.vms):
        return None
    assert system.board.cache is not None
    colours = system.board.cache.colours
    row, rows, tables, parts, given = colours * PAGE, 0, 0, [], 0
    for vm in system.vms:
        own = vm.colours or 0
        parts.append(((1 << own) - 1) << given)
        given += own
        if own:
            rows = max(rows, -(-size(vm) // (own * PAGE)))
            tables = max(tables, -(-(1 + frames(system, vm)) // own))
    # A block of its own, so that a core that maps some pages of it takes one table.
    room = -(-tables * row // BLOCK) * BLOCK
    base = find(room + rows * row, BLOCK)
    if base is None:
        large = max(system.vms, key=lambda vm: vm.memory // (vm.colours or vm.memory))
        raise InputError(
            f"no {(room + rows * row) >> 20}M in one piece are left for the colours, of which "
            f'VM "{large.name}" has {large.colours} of {colours} and {large.memory >> 20}M in them',
            where=system.at(large, "colours"),
            mend="give it more colours, or less memory",
        )
    return ColouredMemory(
        base + room, rows * row, range(base, base + tables * row), colours, tuple(parts)
    )


def size(vm: Vm) -> int:
    """Bytes of a VM's coloured pages, without status page and tables."""
    own = LOG_SIZE if vm.console == "ring" else 0
    return vm.memory + own + len(vm.tasks) * TASK_SIZE


def frames(system: System, vm: Vm) -> int:
    """The most translation tables of a VM: everything but devices may be mapped in pages."""
    board = system.board
    ranges = [(board.ram.base, vm.memory), (board.image.shared, STATUS_SIZE + size(vm) - vm.memory)]
    ranges += [(d.base, d.size) for d in (board.devices[name] for name in vm.devices)]
    return 1 + over(ranges)


def status(coloured: ColouredMemory, vm: int) -> int:
    """The status page of a VM: the first page of its colours beside its tables."""
    part = coloured.parts[vm]
    return coloured.tables.start + ((part & -part).bit_length() - 1) * PAGE


def record(coloured: ColouredMemory) -> dict[str, Any]:
    """The record in the manifest."""
    return {
        "memory": {"start": coloured.base, "size": coloured.size},
        "tables": {"start": coloured.tables.start, "size": len(coloured.tables)},
        "parts": coloured.parts,
        "colours": coloured.colours,
    }
