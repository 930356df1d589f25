"""The header each Tenon VM finds at its x0: memory, shared areas, tasks, channels, vLibs, by IPA.

Read by `pool/core/guest`; both sides test against the same bytes. All fields are little endian.
"""

import struct

from tenonos.system.limits import ENDS, PAGE, TASKS
from tenonos.system.model import Channel, System, Vm
from tenonos.system.places import LOG_SIZE, STATUS_SIZE, ChannelEnd, GuestLayout, VlibEnd

MAGIC = 0x5453_4754
"""`TGST`."""

VERSION = 1

_HEADER = struct.Struct("<IIII32s2Q2Q2Q2QI12x")
_TASK = struct.Struct("<32s4Q")
_CHANNEL = struct.Struct("<32sIIII2Q2Q2QI12x")
_CHANNELS = _HEADER.size + TASKS * _TASK.size
_CALLS = 2
"""The role of who calls a vLib: those of a channel's ends are 0 and 1."""

SIZE = _CHANNELS + ENDS * _CHANNEL.size


def guest(system: System, vm: Vm, place: GuestLayout) -> bytes:
    """The header of a VM or template, its tasks and its ends of channels."""
    header = _HEADER.pack(
        MAGIC,
        VERSION,
        len(place.tasks),
        len(vm.cpus),
        vm.name.encode(),
        place.ipa,
        place.size,
        place.status_ipa,
        STATUS_SIZE,
        *((0, 0) if place.log_ipa is None else (place.log_ipa, LOG_SIZE)),
        place.window.start,
        len(place.window),
        len(place.channels) + len(place.vlibs),
    )
    tasks = (
        _TASK.pack(task.name.encode(), task.ipa, task.size, task.period, task.deadline)
        for task in place.tasks.values()
    )
    declared = {channel.name: channel for channel in system.channels}
    ends = [
        *(_end(declared[name], end) for name, end in place.channels.items()),
        *(_vlib(end) for end in place.vlibs.values()),
    ]
    return ((header + b"".join(tasks)).ljust(_CHANNELS, b"\0") + b"".join(ends)).ljust(SIZE, b"\0")


def _end(channel: Channel, end: ChannelEnd) -> bytes:
    producer, consumer, status = end.channel.parts(end.ipa)
    return _CHANNEL.pack(
        channel.name.encode(),
        channel.index,
        0 if end.produces else 1,
        channel.slots,
        channel.size,
        *(producer.ipa, producer.size),
        *(consumer.ipa, consumer.size),
        *(status.ipa, status.size),
        end.interrupt,
    )


def _vlib(end: VlibEnd) -> bytes:
    """The master's side of a vLib: an end with a role of its own, of memory and status."""
    memory = end.vlib.memory(end.ipa)
    return _CHANNEL.pack(
        end.vlib.name.encode(),
        end.vlib.number,
        _CALLS,
        0,
        0,
        *(memory.ipa, memory.size),
        *(0, 0),
        *(end.ipa, PAGE),
        end.interrupt,
    )
