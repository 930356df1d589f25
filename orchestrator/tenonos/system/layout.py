"""Memory layout of a system: physical pages of VMs, and guest addresses.

RAM holds the system image (Mortise, its manifest, the status pages of VMs without colours, the
pristine payloads), the VMs' memory and the areas shared with the outside (log rings, task areas).
Status pages come before the payloads, so that they are near Mortise and need no translation table
of their own. Allocation is first fit in the order of the file, so the layout is deterministic.
`memory_at` fixes an address; everything else is placed around it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from tenonos.errors import InputError
from tenonos.system import channels, colours, detach, disks, foreign, networks, vlibs
from tenonos.system.limits import BLOCK, PAGE
from tenonos.system.memory_map import (
    LOG_SIZE,
    MANIFEST_MOST,
    SLOT_SIZE,
    STATUS_SIZE,
    TASK_SIZE,
    WRITABLE,
    Area,
    ChannelEnd,
    ChannelLayout,
    ColouredMemory,
    Content,
    GuestLayout,
    Layout,
    Parts,
    Payload,
    ReserveLayout,
    TaskArea,
    VlibEnd,
    VlibLayout,
    VmLayout,
)
from tenonos.system.model import Channel, Reserve, System, Vlib, Vm
from tenonos.system.range_allocator import RangeAllocator, up


@dataclass(frozen=True)
class _Own:
    """Addresses of a VM's RAM and status page, and free space for its shared areas."""

    base: int
    status: int
    room: RangeAllocator


def lay_out(
    system: System,
    mortise_size: int,
    contents: Mapping[str, Content],
    mortise_text: range = range(0),
    manifest_size: int = MANIFEST_MOST,
) -> Layout:
    """The layout of `system`, from the sizes of Mortise in memory, of each VM's content and of the
    manifest."""
    board = system.board
    manifest = up(board.image.mortise + mortise_size, PAGE)
    room = up(manifest_size, PAGE) if system.vms else 0
    at = manifest + room
    statuses = {}
    for vm in system.vms:
        if vm.colours is None:
            statuses[vm.name] = at
            at += STATUS_SIZE
    parts: dict[str, dict[str, tuple[int, int]]] = {}
    for vm in system.guests:
        for part, size in contents[vm.name].sizes.items():
            parts.setdefault(vm.name, {})[part] = (at, size)
            at = at if vm.in_place else up(at + size, PAGE)
    stores = []
    for disk, vm in system.virtual_disks:
        stores.append(disks.place(system, disk, vm, at))
        at += stores[-1].room
    image_size = at - board.image.mortise
    ram = RangeAllocator(board.image.mortise, board.ram_end, board.near_end)
    if board.image.mortise + image_size > board.near_end:
        raise InputError(
            f"the system image ({image_size >> 20}M) is larger than RAM", where=system.shown
        )
    ram.take(board.image.mortise, image_size, "the system image")
    bases = _memory(system, ram)
    coloured = colours.divide(system, ram.find)
    if coloured is not None:
        ram.take(
            coloured.tables.start,
            coloured.base + coloured.size - coloured.tables.start,
            "the colours",
        )
    reserve = None if system.reserve is None else _reserve(system, system.reserve, ram)
    vms, templates = {}, {}
    for vm in system.vms:
        payloads = parts.get(vm.name, {})
        if coloured is not None and vm.colours is not None:
            own = _coloured(coloured, vm)
        else:
            own = _Own(bases[vm.name], statuses[vm.name], ram)
        made = _PLACES[vm.kind](system, vm, own, contents[vm.name], payloads)
        vms[vm.name] = _in_place(made) if vm.in_place else made
    for vm in system.guests[len(system.vms) :]:
        payloads = parts.get(vm.name, {})
        templates[vm.name] = late(system, vm, contents[vm.name], payloads)
    known = {channel.name: _channel(system, channel, ram) for channel in system.channels}
    served = {vlib.name: _vlib(system, vlib, ram) for vlib in system.vlibs}
    for vm in system.vms:
        place = _serve(system, vm, _connect(system, vm, vms[vm.name], known), served)
        vms[vm.name] = replace(place, cells=_cells(system, vm, ram))
    for vm in system.guests[len(system.vms) :]:
        templates[vm.name] = _connect(system, vm, templates[vm.name], known)
    return Layout(
        ram_base=board.ram.base,
        ram_size=board.ram.size,
        image_base=board.image.mortise,
        image_size=max((board.image.mortise + image_size, *map(_loaded, vms.values())))
        - board.image.mortise,
        manifest_pa=manifest,
        manifest_size=room,
        mortise_text=mortise_text,
        vms=vms,
        templates=templates,
        channels=known,
        vlibs=served,
        reserve=reserve,
        coloured=coloured,
        disks=tuple(stores),
        ports=networks.place(system),
    )


def _in_place(place: VmLayout) -> VmLayout:
    """The layout of a VM with its payloads in place, in its own memory."""
    payloads = {
        part: replace(payload, pa=payload.ipa - place.ipa + place.pa)
        for part, payload in place.payloads.items()
    }
    return replace(place, payloads=payloads)


def _loaded(place: VmLayout) -> int:
    """The end of the payloads that the boot loader loads for a VM."""
    return max((payload.pa + payload.size for payload in place.payloads.values()), default=0)


def _reserve(system: System, reserve: Reserve, ram: RangeAllocator) -> ReserveLayout:
    where = system.where("reserve", "memory")
    base = ram.find(reserve.memory, BLOCK)
    if base is None:
        raise InputError(
            f"no {reserve.memory >> 20}M in one piece are left for the reserve",
            where=where,
            mend="make it smaller, or a VM",
        )
    ram.take(base, reserve.memory, "the reserve")
    size = reserve.vms * SLOT_SIZE
    slots = _area(ram, size, "the VMs made at run time", where, "make the reserve smaller")
    return ReserveLayout(base, reserve.memory, slots, reserve.vms)


def _channel(system: System, channel: Channel, ram: RangeAllocator) -> ChannelLayout:
    where = system.where("channel", channel.index, "slots")
    what = f'channel "{channel.name}"'
    pa = _area(ram, channels.size(channel), what, where, "give it fewer or smaller messages")
    return ChannelLayout(channel.name, channel.index, pa, channels.producer_size(channel))


def _cells(system: System, vm: Vm, ram: RangeAllocator) -> Area | None:
    """The cells of a Linux VM, mapped one to one."""
    if not vm.detach:
        return None
    pa = _shared(system, vm, ram, detach.size(vm))
    return Area(pa, pa, detach.size(vm), WRITABLE)


def _vlib(system: System, vlib: Vlib, ram: RangeAllocator) -> VlibLayout:
    where = system.where("vlib", vlib.index, "size")
    size = PAGE + vlib.size
    pa = _area(ram, size, f'vLib "{vlib.name}"', where, "make it smaller, or a VM")
    return VlibLayout(vlib.name, vlib.index, pa, size)


Place = TypeVar("Place", bound=GuestLayout)


def _connect(system: System, vm: Vm, place: Place, known: Mapping[str, ChannelLayout]) -> Place:
    """The layout with ends of channels: after the shared areas; for Linux mapped one to one."""
    ends = {}
    gic, log = system.board.gic, place.log_ipa
    at = place.window.stop if vm.table == "vm" or log is None else log + LOG_SIZE
    interrupts = gic.channel_sgis if vm.interrupts == "direct" else gic.channel_spis
    for channel, interrupt in zip(channels.ends(system, vm), interrupts, strict=False):
        there = known[channel.name]
        ipa = there.pa if vm.kind == "linux" else at
        ends[channel.name] = ChannelEnd(there, channel.origin == vm.name, ipa, interrupt)
        at += there.size
    if vm.table == "template" and at > place.window.start + BLOCK:
        raise InputError(
            f'the channels of template "{vm.name}" have more than 2 MiB',
            where=system.at(vm, "name"),
            mend="give them fewer or smaller messages",
        )
    if vm.kind == "linux":
        return replace(place, channels=ends)
    window = range(place.window.start, max(at, place.window.stop))
    return replace(place, channels=ends, window=window)


def _serve(system: System, vm: Vm, place: VmLayout, known: Mapping[str, VlibLayout]) -> VmLayout:
    """The layout with vLibs: for the master after its channels; for Linux mapped one to one."""
    ends = {}
    gic, at = system.board.gic, place.window.stop
    interrupts = gic.channel_sgis if vm.interrupts == "direct" else gic.channel_spis
    for vlib, interrupt in zip(
        vlibs.called_by(system, vm), interrupts[len(place.channels) :], strict=False
    ):
        there = known[vlib.name]
        ends[vlib.name] = VlibEnd(there, at, interrupt)
        at += there.size
    for vlib in vlibs.served_by(system, vm):
        ends[vlib.name] = VlibEnd(known[vlib.name], known[vlib.name].pa, None)
    window = range(place.window.start, max(at, place.window.stop))
    return replace(place, vlibs=ends, window=window)


def _memory(system: System, ram: RangeAllocator) -> dict[str, int]:
    """Each VM's RAM: fixed addresses first, then first fit; from the end of RAM that the kernels do
    not map, if there is such, for VMs that may have it."""
    bases: dict[str, int] = {}
    elsewhere = [vm for vm in system.vms if vm.colours is None]
    for vm in sorted(elsewhere, key=lambda vm: vm.memory_at is None):
        base = vm.memory_at
        if base is None:
            find = ram.find_last if system.may_be_far(vm) else ram.find
            base = find(vm.memory, BLOCK)
            if base is None:
                raise InputError(
                    f'no {vm.memory >> 20}M in one piece are left for VM "{vm.name}"',
                    where=system.at(vm, "memory"),
                    mend="make a VM smaller",
                )
        elif owner := ram.claim(base, vm.memory):
            raise InputError(
                f'memory of VM "{vm.name}" at {base:#x} overlaps {owner}',
                where=system.at(vm, "memory_at"),
                mend=f"{ram.find(vm.memory, BLOCK) or ram.base:#x} is free",
            )
        ram.take(base, vm.memory, f'VM "{vm.name}"')
        bases[vm.name] = base
    return bases


def _area(
    ram: RangeAllocator, size: int, what: str, where: str, mend: str, *, align: int = PAGE
) -> int:
    base = ram.find(size, align)
    if base is None:
        raise InputError(f"no room for {what}", where=where, mend=mend)
    ram.take(base, size, what)
    return base


def _coloured(coloured: ColouredMemory, vm: Vm) -> _Own:
    """The addresses of a coloured VM: status page beside its tables, shared areas after its RAM."""
    base = coloured.part(vm.index)
    room = RangeAllocator(base, coloured.part(vm.index + 1))
    room.take(base, vm.memory, "its memory")
    return _Own(base, colours.status(coloured, vm.index), room)


def _shared(system: System, vm: Vm, ram: RangeAllocator, size: int) -> int:
    what = f'the shared areas of VM "{vm.name}"'
    return _area(ram, size, what, system.at(vm, "memory"), "make a VM smaller")


def _overfull(system: System, vm: Vm, need: int) -> InputError:
    return InputError(
        f'VM "{vm.name}" needs {up(need, BLOCK) >> 20}M for what it is loaded with',
        where=system.at(vm, "memory"),
        mend=f'write memory = "{up(need, BLOCK) >> 20}M" or more',
    )


def _tenon(system: System, vm: Vm, own: _Own, content: Content, parts: Parts) -> VmLayout:
    log = _shared(system, vm, own.room, LOG_SIZE) if vm.console == "ring" else None
    size = 0 if log is None else LOG_SIZE
    areas = [_shared(system, vm, own.room, TASK_SIZE) for _ in vm.tasks]
    guest = _guest(system, vm, content, parts, areas)
    return VmLayout(**vars(guest), pa=own.base, status_pa=own.status, log_pa=log, log_size=size)


def late(system: System, vm: Vm, content: Content, parts: Parts | None = None) -> GuestLayout:
    """The guest layout of a template, without physical memory."""
    return _guest(system, vm, content, parts or {}, [0] * len(vm.tasks))


def _guest(
    system: System,
    vm: Vm,
    content: Content,
    parts: Parts,
    areas: list[int],
) -> GuestLayout:
    """The guest layout of a Tenon VM; `areas` are the physical addresses of its tasks' areas."""
    board = system.board
    entry = board.ram.base + board.image.guest_offset
    if board.image.guest_offset + content.image_size > vm.memory:
        raise _overfull(system, vm, board.image.guest_offset + content.image_size)
    status = board.image.shared
    log = status + STATUS_SIZE if vm.console == "ring" else None
    ipa = status + STATUS_SIZE if log is None else log + LOG_SIZE
    if vm.table == "template" and vm.tasks:
        # In a dynamic VM the first block holds Mortise's areas and the channels.
        ipa = status + BLOCK
    tasks = {}
    for task, pa in zip(vm.tasks, areas, strict=True):
        tasks[task.name] = TaskArea(task.name, ipa, pa, TASK_SIZE, task.period, task.deadline)
        ipa += TASK_SIZE
    payload = {"image": entry, "header": board.header}
    return GuestLayout(
        name=vm.name,
        ipa=board.ram.base,
        size=vm.memory,
        entry=entry,
        argument=board.header,
        window=range(status, ipa),
        status_ipa=status,
        log_ipa=log,
        tasks=tasks,
        channels={},
        payloads={part: Payload(payload[part], pa, size) for part, (pa, size) in parts.items()},
    )


def _linux(system: System, vm: Vm, own: _Own, content: Content, parts: Parts) -> VmLayout:
    # The guest sees its scattered pages as one range, at the start of the board's RAM.
    base = own.base if vm.colours is None else system.board.ram.base
    # The kernel wants a 2 MiB aligned base, its tree within 2 MiB of memory it maps early, and
    # everything inside its own RAM (Linux, Documentation/arch/arm64/booting.rst).
    entry = base + content.text_offset
    tree = up(entry + content.image_size, BLOCK)
    initramfs = tree + BLOCK
    end = initramfs + content.sizes.get("initramfs", 0)
    if end > base + vm.memory:
        raise _overfull(system, vm, end - base)
    guest = {"kernel": entry, "tree": tree, "initramfs": initramfs}
    return VmLayout(
        name=vm.name,
        ipa=base,
        pa=own.base,
        size=vm.memory,
        entry=entry,
        argument=tree,
        window=range(0),
        status_pa=own.status,
        status_ipa=0,
        log_pa=None,
        log_ipa=None,
        log_size=0,
        tasks={},
        channels={},
        payloads={part: Payload(guest[part], pa, size) for part, (pa, size) in parts.items()},
    )


def _image(system: System, vm: Vm, own: _Own, content: Content, parts: Parts) -> VmLayout:
    regions = []
    for number, region in enumerate(vm.regions):
        where = system.at(vm, "region", number, "size")
        what = f'region {region.at:#x} of VM "{vm.name}"'
        pa = _area(own.room, region.size, what, where, "make it smaller, or a VM", align=BLOCK)
        regions.append(Area(region.at, pa, region.size, WRITABLE))
    return VmLayout(
        **vars(foreign.guest(system, vm, content, parts)),
        pa=own.base,
        status_pa=own.status,
        log_pa=None,
        log_size=0,
        regions=tuple(regions),
    )


_PLACES = {"tenon": _tenon, "linux": _linux, "image": _image}
"""Layout function for each kind of VM."""
