"""Image files of VMs that are created at run time: descriptor and segments.

The descriptor has the format of the hypercall; the segments follow. `tenonctl create` reads such a
file; `docs/formats.md` lists the fields.
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
"""Alignment of a segment's target and size: whole cache lines are copied."""

NO_CPU = 0xFF

PRIORITY = 16
"""Default priority: the VMs of the system come first."""

_DESCRIPTOR = struct.Struct("<II32sQQQQB8sBBB4xQQ152x")
_COUNT = struct.Struct("<I4x")
_SEGMENT = struct.Struct("<QQQ")


def vm_image(system: System, vm: Vm, flats: Mapping[str, Flat]) -> bytes:
    """The image file of a VM like `vm`: with its tasks, without its channels."""
    if vm.kind != "tenon":
        raise InputError(
            f'VM "{vm.name}" is Linux: only Tenon VMs are made at run time', where=system.at(vm)
        )
    flat = flats[vm.name]
    # The ends of a channel are VMs of this system; a VM created from a file is none of them.
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
    """The resources that a VM requests."""
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
