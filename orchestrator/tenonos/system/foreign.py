"""VMs with prebuilt images: checks and guest memory layout.

Such an image was not written for TenonOS: it may expect memory at fixed addresses. Payloads without
a given address (device tree, initramfs) are placed where the image leaves room.
"""

from collections.abc import Iterable, Sequence

from tenonos.errors import InputError
from tenonos.system.limits import BLOCK, CHUNK, MAPPINGS, PAYLOADS
from tenonos.system.memory_map import Content, GuestLayout, Parts, Payload
from tenonos.system.model import Foreign, System, Vm
from tenonos.system.range_allocator import RangeAllocator

_TRANSLATED = 1 << 39
"""The end of guest address space (pool/core/paging)."""

_MEMORY, _IMAGE = "its memory", "its image"


def check(system: System) -> None:
    """Checks that need no content of files."""
    for vm in system.vms:
        if vm.foreign is not None:
            if vm.foreign.image is None:
                raise InputError(
                    f'image VM "{vm.name}" has no image',
                    where=system.at(vm),
                    mend='add image = "FILE", of any image that starts at EL1, or image = "u-boot"',
                )
            _memory(system, vm, vm.foreign)
            _aligned(system, vm, vm.foreign)


def _memory(system: System, vm: Vm, foreign: Foreign) -> None:
    """Check that memory is in whole blocks, without overlaps with each other or with registers."""
    seen = RangeAllocator(0, _TRANSLATED)
    registers = system.board.frames() | {
        f'device "{name}"': (device.base, device.size)
        for name, device in system.board.devices.items()
        if name in vm.devices
    }
    for name, (base, size) in registers.items():
        seen.take(base, size, name)
    pieces = [(foreign.seen_at, vm.memory, system.at(vm, "memory_seen_at"), "memory")]
    for number, region in enumerate(foreign.regions):
        where = system.at(vm, "region", number, "at")
        pieces.append((region.at, region.size, where, "a region"))
    for base, size, where, what in pieces:
        span = f'{what} of VM "{vm.name}" ({base:#x} to {base + size - 1:#x})'
        if base % BLOCK or size % BLOCK:
            raise InputError(
                f"{span} is not whole blocks of 2 MiB",
                where=where,
                mend=f"{base // BLOCK * BLOCK:#x} is the beginning of one",
            )
        if base + size > _TRANSLATED:
            raise InputError(
                f"{span} is not what a VM can see", where=where, mend="addresses have 39 bits"
            )
        if owner := seen.claim(base, size):
            raise InputError(f"{span} overlaps {owner}", where=where, mend="move one of them")
        seen.take(base, size, _MEMORY)
    mapped = len(pieces) + len(vm.devices)
    if mapped > MAPPINGS:
        raise InputError(
            f'VM "{vm.name}" has {mapped} regions and devices',
            where=system.at(vm, "region", 0),
            mend=f"a VM may map {MAPPINGS}",
        )


def _aligned(system: System, vm: Vm, foreign: Foreign) -> None:
    for key, value, grain in (
        ("load", foreign.load, CHUNK),
        ("device_tree_at", foreign.device_tree_at, CHUNK),
        ("entry", foreign.entry, 4),
    ):
        if value is not None and value % grain:
            raise InputError(
                f"{key} {value:#x} is not a multiple of {grain}",
                where=system.at(vm, key),
                mend=f"{value // grain * grain:#x} is",
            )


def guest(system: System, vm: Vm, content: Content, parts: Parts) -> GuestLayout:
    """The guest layout of such a VM; `parts` has place and size of its payloads in the system
    image."""
    assert vm.foreign is not None
    places = _places(system, vm, vm.foreign, content)
    if len(places) > PAYLOADS:
        raise InputError(
            f'VM "{vm.name}" has {len(places)} payloads',
            where=system.at(vm, "image"),
            mend=f"at most {PAYLOADS}; link the image into fewer regions",
        )
    return GuestLayout(
        name=vm.name,
        ipa=vm.foreign.seen_at,
        size=vm.memory,
        entry=content.entry,
        argument=places["tree"],
        window=range(0),
        status_ipa=0,
        log_ipa=None,
        tasks={},
        channels={},
        payloads={part: Payload(ipa, *parts[part]) for part, ipa in places.items()},
    )


def _places(system: System, vm: Vm, foreign: Foreign, content: Content) -> dict[str, int]:
    """Guest addresses of the payloads: the image at its own, the others in free memory."""
    seen = range(foreign.seen_at, foreign.seen_at + vm.memory)
    memory = [seen, *(range(region.at, region.at + region.size) for region in foreign.regions)]
    room = RangeAllocator(seen.start, seen.stop)
    places = dict(content.at)
    for part, base in content.at.items():
        size = max(content.sizes[part], content.image_size)
        key = "image" if foreign.load is None else "load"
        within(system, vm, key, _IMAGE, range(base, base + size), memory)
        room.take(base, size, _IMAGE)
    image = {part: range(at, at + content.sizes[part]) for part, at in content.at.items()}
    if not any(content.entry in piece for piece in image.values()):
        raise InputError(
            f'entry {content.entry:#x} of VM "{vm.name}" is not in its image',
            where=system.at(vm, "entry" if foreign.entry is not None else "image"),
            mend=f"that is at {_spans(image.values())}",
        )
    if foreign.device_tree_at is not None:
        base, size = foreign.device_tree_at, content.sizes["tree"]
        tree = range(base, base + size)
        within(system, vm, "device_tree_at", "its device tree", tree, memory)
        if owner := room.claim(base, size):
            raise InputError(
                f'the device tree of VM "{vm.name}" at {base:#x} overlaps {owner}',
                where=system.at(vm, "device_tree_at"),
                mend="leave device_tree_at out, or move it",
            )
        room.take(base, size, "its device tree")
        places["tree"] = base
    for part in ("tree", "initramfs"):
        if part in content.sizes and part not in places:
            places[part] = _find(system, vm, room, content.sizes[part], part)
    return places


def _find(system: System, vm: Vm, room: RangeAllocator, size: int, part: str) -> int:
    base = room.find(size, BLOCK)
    if base is None:
        raise InputError(
            f'the memory of VM "{vm.name}" has no room for its {part} beside its image',
            where=system.at(vm, "memory"),
            mend="write more memory",
        )
    room.take(base, size, f"its {part}")
    return base


def within(
    system: System, vm: Vm, key: str, what: str, span: range, memory: Sequence[range]
) -> None:
    """Refuse an address range that is not in one of the ranges of a VM's memory."""
    if not any(span.start in piece and span.stop <= piece.stop for piece in memory):
        raise InputError(
            f"{what} ({span.start:#x} to {span.stop - 1:#x}) is not in the memory of VM"
            f' "{vm.name}"',
            where=system.at(vm, key),
            mend=f"that is at {_spans(memory)}; memory, memory_seen_at and [[vm.region]] say so",
        )


def _spans(ranges: Iterable[range]) -> str:
    return ", ".join(f"{piece.start:#x} to {piece.stop - 1:#x}" for piece in ranges)
