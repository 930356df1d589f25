"""The file of a VM that is made at run time: what it asks for, and what it is filled with.

A descriptor as the hypercall takes it, then the segments. `tenonctl create` reads
one; `docs/formats.md` lists the fields.
"""

import struct
from collections.abc import Mapping
from dataclasses import replace

from tenonos.build.elf import Flat
from tenonos.errors import InputError
from tenonos.system import guest_header
from tenonos.system.layout import late
from tenonos.system.limits import VCPUS
from tenonos.system.manifest import areas
from tenonos.system.memory_map import Content, GuestLayout
from tenonos.system.model import System, Vm

MAGIC = int.from_bytes(b"TVM1", "little")
VERSION = 1
ALIGNMENT = 64
"""Of a segment's target and size: whole cache lines are copied."""

NO_CPU = 0xFF

PRIORITY = 16
"""Of a VM that does not say otherwise: what was there before it comes first."""

_DESCRIPTOR = struct.Struct("<II32sQQQQB8sBBB4xQQ152x")
_COUNT = struct.Struct("<I4x")
_SEGMENT = struct.Struct("<QQQ")


def vm_image(system: System, vm: Vm, flats: Mapping[str, Flat]) -> bytes:
    """The file from which a VM like `vm` is made: with its tasks, without its channels."""
    if vm.kind != "tenon":
        raise InputError(
            f'VM "{vm.name}" is Linux: only Tenon VMs are made at run time', where=system.at(vm)
        )
    flat = flats[vm.name]
    # A channel's ends are VMs of this system; a VM from a file is a stranger to it.
    alone = replace(system, channels=(), vlibs=())
    place = late(alone, replace(vm, table="template"), Content({}, 0, flat.end - flat.base))
    segments = [
        (place.argument, guest_header.guest(alone, vm, place)),
        (place.entry, flat.content),
    ]
    at = _DESCRIPTOR.size + _COUNT.size + len(segments) * _SEGMENT.size
    at += -at % ALIGNMENT
    said = (vm.table, vm.index, "priority") in system.lines
    head = descriptor(vm, vm.share.priority if said else PRIORITY, place) + _COUNT.pack(
        len(segments)
    )
    body = b""
    for target, content in segments:
        padded = content.ljust(len(content) + -len(content) % ALIGNMENT, b"\0")
        head += _SEGMENT.pack(target, at + len(body), len(padded))
        body += padded
    return head.ljust(at, b"\0") + body


def descriptor(vm: Vm, priority: int, place: GuestLayout) -> bytes:
    """What a VM asks for."""
    share = vm.share
    cpus = [*vm.cpus, *[NO_CPU] * VCPUS][:VCPUS]
    return _DESCRIPTOR.pack(
        MAGIC,
        VERSION,
        vm.name.encode(),
        place.size,
        areas(place),
        place.entry,
        place.argument,
        len(vm.cpus),
        bytes(cpus),
        priority,
        share.by_deadline,
        share.background,
        share.budget or 0,
        share.period or 0,
    )
