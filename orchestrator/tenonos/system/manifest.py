"""What Mortise reads at boot: fixed records, in tables one behind the other, used where they lie.

Read by `pool/core/manifest`; both sides test against the same bytes. A record has the fields of the
type of its name there, in their order; `docs/formats.md` says what they mean. Nothing in it is
random, and its length does not depend on addresses.
"""

from collections.abc import Iterable
from typing import Any

from tenonos.system import colours, detach, disks, regulation
from tenonos.system.limits import INTERRUPTS, MAPPINGS, NAME, PAGE, PAYLOADS, VCPUS, VMS
from tenonos.system.model import Channel, System, Template, Vlib, Vm
from tenonos.system.places import LOG_SIZE, STATUS_SIZE, GuestLayout, Layout, VmLayout
from tenonos.system.record import Choice, List, Record

MAGIC = 0x5359_5354
"""`TSYS`."""

VERSION = 1
NONE = 0xFFFF_FFFF
"""The number of what is not there."""

_NAME = List("B", NAME)
_RANGE = Record(start="Q", size="Q")
_MAPPING = Record(
    intermediate=_RANGE,
    physical=_RANGE,
    kind=Choice("ram", "shared", "device"),
    writable="B",
    _pad="6x",
)
_MAPPINGS = List(_MAPPING, MAPPINGS, pad=4)
_CPUS = List("B", VCPUS)
_SCHEDULE = Record(budget="Q", period="Q", priority="B", by_deadline="B", background="B", _pad="5x")
_PARTY = Record(owner=Choice("vm", "template"), index="B", interrupt="H")
_EXTENT = Record(offset="I", count="I")

VM = Record(
    entry="Q",
    argument="Q",
    status=_RANGE,
    console=Choice("none", "ring", "pl011"),
    _console="7x",
    log=_RANGE,
    schedule=_SCHEDULE,
    mappings=_MAPPINGS,
    payloads=List(Record(source=_RANGE, target=_RANGE, destination=_RANGE), PAYLOADS, pad=4),
    name=_NAME,
    interrupts=List("H", INTERRUPTS),
    on_fault=Choice("stop", "restart", size="I"),
    restart_limit="I",
    cpus=_CPUS,
    kind=Choice("tenon", "linux", "image"),
    interrupt_mode=Choice("direct", "shared"),
    wait=Choice("pass", "trap"),
    _pad="x",
)
LENDING = Record(cells=_RANGE, memory=_RANGE, vcpus=_CPUS, interrupt="H", _pad="2x")
AUTHORITY = Record(memory="Q", cpus="Q", vms="Q", templates="Q", files="B", priority="B", _pad="6x")
RESERVE = Record(memory=_RANGE, slots=_RANGE, cpus="Q")
COLOURING = Record(
    memory=_RANGE, tables=_RANGE, parts=List("Q", VMS, pad=4), colours="I", _pad="4x"
)
REGULATION = Record(interval="Q", event="I", limit="I")
TEMPLATE = Record(
    memory=_RANGE,
    window="Q",
    entry="Q",
    argument="Q",
    schedule=_SCHEDULE,
    fillings=List(Record(source=_RANGE, target=_RANGE), PAYLOADS, pad=4),
    shared=_MAPPINGS,
    name=_NAME,
    cpus=_CPUS,
    start_on="I",
    _pad="4x",
)
CHANNEL = Record(
    producer=_RANGE,
    status=_RANGE,
    consumer=_RANGE,
    name=_NAME,
    slots="I",
    size="I",
    origin=_PARTY,
    to=_PARTY,
    _pad="4x",
)
VLIB = Record(
    status=_RANGE, memory=_RANGE, name=_NAME, master=_PARTY, server="B", virtual_time="B", _pad="6x"
)
DISK = Record(
    place=_RANGE,
    registers="Q",
    sectors="Q",
    first="Q",
    interrupt="H",
    vm="B",
    read_only="B",
    store=Choice("memory", "drive"),
    _pad="3x",
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

HEADER = Record(
    magic="I",
    version="I",
    size="I",
    mode=Choice("static", "dynamic", size="I"),
    console_input="I",
    zero="I",
    system=_NAME,
    board=_NAME,
    **dict.fromkeys(TABLES, _EXTENT),
)


def write(system: System, layout: Layout) -> bytes:
    """The manifest: the VMs in their order, with every address resolved."""
    records = {
        name: [record.pack(**v) for v in _values(name, system, layout)]
        for name, record in TABLES.items()
    }
    extents, end = {}, HEADER.size
    for name, packed in records.items():
        extents[name] = {"offset": end, "count": len(packed)}
        end += sum(map(len, packed))
    header = HEADER.pack(
        magic=MAGIC,
        version=VERSION,
        size=end,
        mode=system.mode,
        console_input=_index(system, system.console) if system.console else NONE,
        zero=0,
        system=system.name.encode(),
        board=system.board.name.encode(),
        **extents,
    )
    return header + b"".join(content for packed in records.values() for content in packed)


def read(content: bytes) -> dict[str, Any]:
    """The header's values, with the records of each table in place of its extent."""
    values = HEADER.unpack(content)
    for name, record in TABLES.items():
        start, count = values[name]["offset"], values[name]["count"]
        places = range(start, start + count * record.size, record.size)
        values[name] = [record.unpack(content[at : at + record.size]) for at in places]
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
        case "colouring" if layout.dealt is not None:
            return [colours.record(layout.dealt)]
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
            return [disks.record(system, disk) for disk in layout.disks]
    return []


def _vm(system: System, vm: Vm, place: VmLayout) -> dict[str, Any]:
    devices = [system.board.devices[name] for name in vm.devices]
    mappings = [_mapping("ram", area.ipa, area.pa, area.size) for area in place.memory]
    mappings += [_shared(area) for area in place.shared]
    mappings += [_mapping("device", at, at, size) for d in devices for at, size in d.frames]
    loaded = () if vm.in_place else place.payloads.values()
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
            for p in loaded
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
    """Where an address of a VM's own memory is."""
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
    """Small numbers, a bit each."""
    return sum(1 << number for number in set(numbers))


def _index(system: System, name: str) -> int:
    return next(index for index, vm in enumerate(system.vms) if vm.name == name)


def _templates(system: System) -> dict[str, int]:
    return {template.vm.name: index for index, template in enumerate(system.templates)}


def _authority(system: System, vm: Vm) -> dict[str, int]:
    manages, known = vm.manages, _templates(system)
    if manages is None:
        return dict.fromkeys((name for name in AUTHORITY.fields if name != "_pad"), 0)
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
