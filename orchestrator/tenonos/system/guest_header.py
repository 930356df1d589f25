"""The guest header at x0 of each Tenon VM: memory, shared areas, tasks, channels, vLibs, by IPA.

Read by `pool/core/guest`; both sides test against the same bytes. All fields are little endian.
"""

from construct import Array, Int8ul, Int32ul, Int64ul, PaddedString, Padding, Struct

from tenonos.system.limits import ENDS, PAGE, TASKS
from tenonos.system.memory_map import LOG_SIZE, STATUS_SIZE, ChannelEnd, GuestLayout, VlibEnd
from tenonos.system.model import Channel, System, Vm

MAGIC = 0x5453_4754
"""`TGST`."""

VERSION = 1

_NAME = PaddedString(32, "ascii")
_RANGE = Struct(start=Int64ul, size=Int64ul)
_TASK = Struct(name=_NAME, area=_RANGE, period=Int64ul, deadline=Int64ul)
_END = Struct(
    name=_NAME,
    number=Int32ul,
    role=Int32ul,
    slots=Int32ul,
    slot_size=Int32ul,
    producer=_RANGE,
    consumer=_RANGE,
    status=_RANGE,
    interrupt=Int32ul,
    _pad=Padding(12),
)
_HEADER = Struct(
    magic=Int32ul,
    version=Int32ul,
    tasks=Int32ul,
    cpus=Int32ul,
    name=_NAME,
    memory=_RANGE,
    status=_RANGE,
    log=_RANGE,
    window=_RANGE,
    ends=Int32ul,
    priorities=Array(TASKS, Int8ul),
    _pad=Padding(4),
)
_CHANNELS = _HEADER.sizeof() + TASKS * _TASK.sizeof()
_CALLS = 2
"""The role of a caller of a vLib; the ends of a channel have the roles 0 and 1."""

SIZE = _CHANNELS + ENDS * _END.sizeof()


def guest(system: System, vm: Vm, place: GuestLayout) -> bytes:
    """The header of a VM or template, its tasks and its ends of channels."""
    header = _HEADER.build(
        {
            "magic": MAGIC,
            "version": VERSION,
            "tasks": len(place.tasks),
            "cpus": len(vm.cpus),
            "name": vm.name,
            "memory": _span(place.ipa, place.size),
            "status": _span(place.status_ipa, STATUS_SIZE),
            "log": _span(0, 0) if place.log_ipa is None else _span(place.log_ipa, LOG_SIZE),
            "window": _span(place.window.start, len(place.window)),
            "ends": len(place.channels) + len(place.vlibs),
            "priorities": _priorities(vm, place),
        }
    )
    tasks = Array(len(place.tasks), _TASK).build(
        [
            {
                "name": task.name,
                "area": _span(task.ipa, task.size),
                "period": task.period,
                "deadline": task.deadline,
            }
            for task in place.tasks.values()
        ]
    )
    declared = {channel.name: channel for channel in system.channels}
    ends = [
        *(_end(declared[name], end) for name, end in place.channels.items()),
        *(_vlib(end) for end in place.vlibs.values()),
    ]
    return ((header + tasks).ljust(_CHANNELS, b"\0") + b"".join(ends)).ljust(SIZE, b"\0")


def _priorities(vm: Vm, place: GuestLayout) -> list[int]:
    """The priority of each task in the order of the header; zero if none is stated."""
    stated = {task.name: task.priority or 0 for task in vm.tasks}
    return [stated[task.name] for task in place.tasks.values()] + [0] * (TASKS - len(place.tasks))


def _end(channel: Channel, end: ChannelEnd) -> bytes:
    producer, consumer, status = end.channel.parts(end.ipa)
    return _END.build(
        {
            "name": channel.name,
            "number": channel.index,
            "role": 0 if end.produces else 1,
            "slots": channel.slots,
            "slot_size": channel.size,
            "producer": _span(producer.ipa, producer.size),
            "consumer": _span(consumer.ipa, consumer.size),
            "status": _span(status.ipa, status.size),
            "interrupt": end.interrupt,
        }
    )


def _vlib(end: VlibEnd) -> bytes:
    """The master's side of a vLib: an end with a role of its own, of memory and status."""
    memory = end.vlib.memory(end.ipa)
    return _END.build(
        {
            "name": end.vlib.name,
            "number": end.vlib.number,
            "role": _CALLS,
            "slots": 0,
            "slot_size": 0,
            "producer": _span(memory.ipa, memory.size),
            "consumer": _span(0, 0),
            "status": _span(end.ipa, PAGE),
            "interrupt": end.interrupt,
        }
    )


def _span(start: int, size: int) -> dict[str, int]:
    return {"start": start, "size": size}
