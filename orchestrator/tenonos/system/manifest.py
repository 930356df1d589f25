"""Mortise's manifest: tables of fixed records that Mortise uses in place.

`pool/core/manifest` reads it; both sides test against the same bytes. A record has the fields of
the Rust type of its name, in their order; `docs/formats.md` describes them. Nothing in it is
random, and its length does not depend on addresses.
"""

from collections.abc import Iterable
from typing import Any

from construct import Array, Int8ul, Int16ul, Int32ul, Int64ul, Padding, Struct

from tenonos.system import colours, detach, disks, networks, regulation
from tenonos.system.limits import INTERRUPTS, MAPPINGS, NAME, PAGE, PAYLOADS, VCPUS, VMS
from tenonos.system.memory_map import LOG_SIZE, STATUS_SIZE, GuestLayout, Layout, VmLayout
from tenonos.system.model import Channel, System, Template, Vlib, Vm
from tenonos.system.record import List, choice, plain

MAGIC = 0x5359_5354
"""`TSYS`."""

VERSION = 1
NONE = 0xFFFF_FFFF
"""The number for an absent item."""

_NAME = List(Int8ul, NAME)
_RANGE = Struct(start=Int64ul, size=Int64ul)
_MAPPING = Struct(
    intermediate=_RANGE,
    physical=_RANGE,
    kind=choice("ram", "shared", "device", "area"),
    writable=Int8ul,
    _pad=Padding(6),
)
_MAPPINGS = List(_MAPPING, MAPPINGS, pad=4)
_CPUS = List(Int8ul, VCPUS)
_SCHEDULE = Struct(
    budget=Int64ul,
    period=Int64ul,
    priority=Int8ul,
    by_deadline=Int8ul,
    background=Int8ul,
    _pad=Padding(5),
)
_PARTY = Struct(owner=choice("vm", "template"), index=Int8ul, interrupt=Int16ul)
_EXTENT = Struct(offset=Int32ul, count=Int32ul)

VM = Struct(
    entry=Int64ul,
    argument=Int64ul,
    status=_RANGE,
    console=choice("none", "ring", "pl011"),
    _console=Padding(7),
    log=_RANGE,
    schedule=_SCHEDULE,
    mappings=_MAPPINGS,
    payloads=List(Struct(source=_RANGE, target=_RANGE, destination=_RANGE), PAYLOADS, pad=4),
    name=_NAME,
    interrupts=List(Int16ul, INTERRUPTS),
    on_fault=choice("stop", "restart", "inject", of=Int32ul),
    restart_limit=Int32ul,
    cpus=_CPUS,
    kind=choice("tenon", "linux", "image"),
    interrupt_mode=choice("direct", "shared"),
    wait=choice("pass", "trap"),
    _pad=Padding(1),
)
LENDING = Struct(cells=_RANGE, memory=_RANGE, vcpus=_CPUS, interrupt=Int16ul, _pad=Padding(2))
AUTHORITY = Struct(
    memory=Int64ul,
    cpus=Int64ul,
    vms=Int64ul,
    templates=Int64ul,
    files=Int8ul,
    priority=Int8ul,
    _pad=Padding(6),
)
RESERVE = Struct(memory=_RANGE, slots=_RANGE, cpus=Int64ul)
COLOURING = Struct(
    memory=_RANGE, tables=_RANGE, parts=List(Int64ul, VMS, pad=4), colours=Int32ul, _pad=Padding(4)
)
REGULATION = Struct(interval=Int64ul, event=Int32ul, limit=Int32ul)
TEMPLATE = Struct(
    memory=_RANGE,
    window=Int64ul,
    entry=Int64ul,
    argument=Int64ul,
    schedule=_SCHEDULE,
    fillings=List(Struct(source=_RANGE, target=_RANGE), PAYLOADS, pad=4),
    shared=_MAPPINGS,
    name=_NAME,
    cpus=_CPUS,
    start_on=Int32ul,
    _pad=Padding(4),
)
CHANNEL = Struct(
    producer=_RANGE,
    status=_RANGE,
    consumer=_RANGE,
    name=_NAME,
    slots=Int32ul,
    size=Int32ul,
    origin=_PARTY,
    to=_PARTY,
    _pad=Padding(4),
)
VLIB = Struct(
    status=_RANGE,
    memory=_RANGE,
    name=_NAME,
    master=_PARTY,
    server=Int8ul,
    virtual_time=Int8ul,
    _pad=Padding(6),
)
DISK = Struct(
    place=_RANGE,
    registers=Int64ul,
    sectors=Int64ul,
    first=Int64ul,
    interrupt=Int16ul,
    vm=Int8ul,
    read_only=Int8ul,
    store=choice("memory", "drive", "network"),
    _pad=Padding(3),
)

TABLES = {
    "vms": VM,
    "lendings": LENDING,
    "managers": AUTHORITY,
    "reserve": RESERVE,
    "colouring": COLOURING,
    "regulation": REGULATION,
    "templates": TEMPLATE,
    "channels": CHANNEL,
    "vlibs": VLIB,
    "disks": DISK,
}
"""The records of each table, in the order of the tables."""

HEADER = Struct(
    magic=Int32ul,
    version=Int32ul,
    size=Int32ul,
    mode=choice("static", "dynamic", of=Int32ul),
    console_input=Int32ul,
    zero=Int32ul,
    system=_NAME,
    board=_NAME,
    **dict.fromkeys(TABLES, _EXTENT),
)


def write(system: System, layout: Layout) -> bytes:
    """The manifest: the VMs in their order, with every address resolved."""
    records = {
        name: [record.build(v) for v in _values(name, system, layout)]
        for name, record in TABLES.items()
    }
    extents, end = {}, HEADER.sizeof()
    for name, packed in records.items():
        extents[name] = {"offset": end, "count": len(packed)}
        end += sum(map(len, packed))
    header = HEADER.build(
        {
            "magic": MAGIC,
            "version": VERSION,
            "size": end,
            "mode": system.mode,
            "console_input": _index(system, system.console) if system.console else NONE,
            "zero": 0,
            "system": system.name.encode(),
            "board": system.board.name.encode(),
            **extents,
        }
    )
    return header + b"".join(content for packed in records.values() for content in packed)


def read(content: bytes) -> dict[str, Any]:
    """The values of the header, with the records of each table in place of its extent."""
    values: dict[str, Any] = plain(HEADER.parse(content))
    for name, record in TABLES.items():
        start, count = values[name]["offset"], values[name]["count"]
        values[name] = plain(Array(count, record).parse(content[start:]))
    return values


def _values(table: str, system: System, layout: Layout) -> Iterable[dict[str, Any]]:
    """The values of a table's records."""
    match table:
        case "vms":
            return [_vm(system, vm, layout.vm(vm.name)) for vm in system.vms]
        case "lendings" if any(vm.detach for vm in system.vms):
            return [detach.record(system, vm, layout.vm(vm.name)) for vm in system.vms]
        case "managers" if any(vm.manages for vm in system.vms):
            return [_authority(system, vm) for vm in system.vms]
        case "reserve" if system.reserve is not None and layout.reserve is not None:
            there = layout.reserve
            memory, slots = (there.pa, there.size), (there.slots_pa, there.slots_size)
            return [
                {"memory": span(*memory), "slots": span(*slots), "cpus": _set(system.reserve.cpus)}
            ]
        case "colouring" if layout.coloured is not None:
            return [colours.record(layout.coloured)]
        case "regulation" if system.regulation is not None:
            return [regulation.record(system.regulation)]
        case "templates":
            return [
                _template(system, each, layout.templates[each.vm.name]) for each in system.templates
            ]
        case "channels":
            return [_channel(system, channel, layout) for channel in system.channels]
        case "vlibs":
            return [_vlib(system, vlib, layout) for vlib in system.vlibs]
        case "disks":
            stores = [disks.record(system, disk) for disk in layout.disks]
            return stores + [networks.record(system, port) for port in layout.ports]
    return []


def _vm(system: System, vm: Vm, place: VmLayout) -> dict[str, Any]:
    devices = [system.board.devices[name] for name in vm.devices]
    mappings = [_mapping("ram", area.ipa, area.pa, area.size) for area in place.memory]
    mappings += [_shared(area) for area in place.shared]
    mappings += [_mapping("area", area.ipa, area.pa, area.size) for area in place.areas]
    mappings += [_mapping("device", at, at, size) for d in devices for at, size in d.frames]
    return {
        "entry": place.entry,
        "argument": place.argument,
        "status": span(place.status_pa, STATUS_SIZE),
        "console": vm.console,
        "log": span(place.log_pa or 0, place.log_size if place.log_pa is not None else 0),
        "schedule": _schedule(vm),
        "mappings": mappings,
        "payloads": [
            {
                "source": span(p.pa, p.size),
                "target": span(p.ipa, p.size),
                "destination": span(_physical(place, p.ipa), p.size),
            }
            for p in place.payloads.values()
        ],
        "name": vm.name.encode(),
        "interrupts": [intid for device in devices for intid in device.interrupts],
        "on_fault": vm.on_fault,
        "restart_limit": vm.restart_limit,
        "cpus": vm.cpus,
        "kind": vm.kind,
        "interrupt_mode": vm.interrupts,
        "wait": vm.wfi,
    }


def _physical(place: VmLayout, ipa: int) -> int:
    """The physical address of an address in a VM's own memory."""
    (area,) = (area for area in place.memory if area.ipa <= ipa < area.ipa + area.size)
    return area.pa + ipa - area.ipa


def span(start: int, size: int) -> dict[str, int]:
    """A range."""
    return {"start": start, "size": size}


def _mapping(kind: str, ipa: int, pa: int, size: int, *, writable: bool = False) -> dict[str, Any]:
    ranges = {"intermediate": span(ipa, size), "physical": span(pa, size)}
    return {**ranges, "kind": kind, "writable": writable}


def _shared(area: Any) -> dict[str, Any]:
    return _mapping("shared", area.ipa, area.pa, area.size, writable=bool(area.flags & 1))


def _schedule(vm: Vm) -> dict[str, int]:
    share = vm.share
    return {
        "budget": share.budget or 0,
        "period": share.period or 0,
        "priority": share.priority,
        "by_deadline": share.by_deadline,
        "background": share.background,
    }


def _set(numbers: Iterable[int]) -> int:
    """A set of small numbers as bits."""
    return sum(1 << number for number in set(numbers))


def _index(system: System, name: str) -> int:
    return next(index for index, vm in enumerate(system.vms) if vm.name == name)


def _templates(system: System) -> dict[str, int]:
    return {template.vm.name: index for index, template in enumerate(system.templates)}


def _authority(system: System, vm: Vm) -> dict[str, int]:
    manages, known = vm.manages, _templates(system)
    if manages is None:
        return dict.fromkeys((field.name for field in AUTHORITY.subcons if field.name != "_pad"), 0)
    names = [name for name in manages.vms if name != "*"]
    return {
        "memory": manages.memory,
        "cpus": _set(manages.cpus),
        "vms": _set(_index(system, name) for name in names if name not in known),
        "templates": _set(known[name] for name in names if name in known),
        "files": manages.files,
        "priority": manages.priority,
    }


def areas(place: GuestLayout) -> int:
    """Bytes from the start of a VM's window to the end of its own areas, channels aside."""
    ends = [task.ipa + task.size for task in place.tasks.values()]
    assert place.log_ipa is not None
    return max(ends, default=place.log_ipa + LOG_SIZE) - place.window.start


def _template(system: System, template: Template, place: GuestLayout) -> dict[str, Any]:
    numbers = {channel.name: number for number, channel in enumerate(system.channels)}
    ends = place.channels.values()
    return {
        "memory": span(place.ipa, place.size),
        "window": areas(place),
        "entry": place.entry,
        "argument": place.argument,
        "schedule": _schedule(template.vm),
        "fillings": [
            {"source": span(p.pa, p.size), "target": span(p.ipa, p.size)}
            for p in place.payloads.values()
        ],
        "shared": [_shared(area) for end in ends for area in end.areas],
        "name": template.vm.name.encode(),
        "cpus": template.vm.cpus,
        "start_on": NONE if template.start_on is None else numbers[template.start_on],
    }


def _party(system: System, name: str, interrupt: int) -> dict[str, Any]:
    templates = _templates(system)
    owner = "template" if name in templates else "vm"
    index = templates[name] if name in templates else _index(system, name)
    return {"owner": owner, "index": index, "interrupt": interrupt}


def _channel(system: System, channel: Channel, layout: Layout) -> dict[str, Any]:
    there = layout.channels[channel.name]
    producer, consumer, status = (span(p.ipa, p.size) for p in there.parts(there.pa))
    ends = {
        key: _party(system, name, layout.guest(name).channels[channel.name].interrupt)
        for key, name in (("origin", channel.origin), ("to", channel.to))
    }
    parts = {"producer": producer, "status": status, "consumer": consumer}
    shape = {"slots": channel.slots, "size": channel.size}
    return {**parts, "name": channel.name.encode(), **shape, **ends}


def _vlib(system: System, vlib: Vlib, layout: Layout) -> dict[str, Any]:
    there = layout.vlibs[vlib.name]
    memory = there.memory(there.pa)
    interrupt = layout.vm(vlib.master).vlibs[vlib.name].interrupt
    assert interrupt is not None
    return {
        "status": span(there.pa, PAGE),
        "memory": span(memory.ipa, memory.size),
        "name": vlib.name.encode(),
        "master": _party(system, vlib.master, interrupt),
        "server": _index(system, vlib.server),
        "virtual_time": vlib.virtual_time,
    }
