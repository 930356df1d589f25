"""Disks: checks; layout, manifest records and device tree nodes of virtual disks."""

from collections import Counter
from typing import Any

from tenonos.errors import InputError
from tenonos.system import fat, partition_table
from tenonos.system.board import Device
from tenonos.system.limits import DISKS, DRIVES
from tenonos.system.memory_map import DiskLayout, Layout
from tenonos.system.model import Disk, System, Vm
from tenonos.system.node import Node

SECTOR = 512
"""Bytes of a sector (virtio 1.2, 5.2.4)."""

TRANSPORT = 0x200
"""Bytes of the registers of a transport (pool/core/manifest)."""

TRANSPORTS = "virtio-mmio"
"""The kind of the device of a disk or card in a Tenon VM."""

_EDGE = 1
_FIRST_SPI = 32


def size(disk: Disk) -> int:
    """Bytes of a disk that is no part of another one."""
    if disk.file is not None and (disk.format is None or disk.file.exists()):
        return disk.file.stat().st_size
    assert disk.size is not None
    return disk.size


def check(system: System) -> None:
    """Check that each disk has a content, and one usable place."""
    of: Counter[str] = Counter()
    for disk in system.disks:
        where = system.where("disk", disk.index)
        if (disk.device is None) == (disk.vm is None):
            raise InputError(
                "a disk is behind a device, or a VM's in memory or on another disk",
                where=where,
                mend='write device = "virtio0" or vm = "linux"',
            )
        _keys(system, disk)
        if disk.on is None and disk.format is None and (disk.file is None) == (disk.size is None):
            raise InputError(
                "a disk has a file, or is empty and has a size",
                where=where,
                mend='write file = "disk.img" or size = "8M"',
            )
        made = disk.format is not None and disk.file is not None and not disk.file.exists()
        if disk.file is not None and not disk.file.is_file() and not made:
            raise InputError(
                f'no disk "{disk.file.name}"',
                where=system.where("disk", disk.index, "file"),
                mend="give a file with its content, byte for byte",
            )
        if disk.vm is not None:
            _of_vm(system, disk, disk.vm)
            of[disk.vm] += 1
            most = len(system.board.gic.spare)
            if of[disk.vm] > most or of.total() > DISKS:
                raise InputError(
                    f'VM "{disk.vm}" has more than {most} disks of Mortise\'s, or all {DISKS}',
                    where=where,
                    mend="use fewer",
                )
    _parts(system)


_OF = {
    "at": ("on", "a disk that is on another one"),
    "partition": ("on", "a disk that is on another one"),
    "on": ("vm", "a disk of a VM's"),
    "name": ("device", "a disk behind a device, by which parts of it say where they are"),
    "keep": ("device", "a disk behind a device"),
    "format": ("device", "a disk behind a device"),
}
"""Keys that require another key, and the kind of disk which that makes."""


def _keys(system: System, disk: Disk) -> None:
    """Refuse keys that do not apply to such a disk."""
    for key, (beside, what) in _OF.items():
        said = getattr(disk, key) is not None and getattr(disk, key) is not False
        if said and getattr(disk, beside) is None:
            raise InputError(
                f"{key} is for {what}",
                where=system.where("disk", disk.index, key),
                mend=f"remove it, or write {beside} for this one",
            )
    if disk.read_only and disk.vm is None:
        raise InputError(
            "a disk behind a device can be written",
            where=system.where("disk", disk.index, "read_only"),
            mend="remove read_only, or give the disk to a VM in memory",
        )
    if disk.keep and disk.file is None:
        raise InputError(
            "persistent writes need a file, and this disk has none",
            where=system.where("disk", disk.index, "keep"),
            mend='write file = "disk.img"',
        )
    if disk.format is not None:
        _formatted(system, disk)
    if disk.on is None:
        return
    if disk.file is not None:
        raise InputError(
            f'a disk on "{disk.on}" has existing content',
            where=system.where("disk", disk.index, "file"),
            mend=f'leave file to "{disk.on}"',
        )
    ranged = disk.at is not None and disk.size is not None
    some = disk.at is not None or disk.size is not None
    if some == (disk.partition is not None) or some != ranged:
        raise InputError(
            f'a part of "{disk.on}" is given by at and size, or by partition',
            where=system.where("disk", disk.index, "on"),
            mend='write at = "1M" and size = "8M", or partition = 1',
        )


def _formatted(system: System, disk: Disk) -> None:
    """Check that a disk which is made with a file system has a file, and a size for one."""
    where = system.where("disk", disk.index, "format")
    if disk.file is None or disk.size is None:
        raise InputError(
            "a disk with a format has a file, which is made of a size at the first run",
            where=where,
            mend='write file = "disk.img" and size = "16M"',
        )
    if not fat.LEAST <= disk.size <= fat.MOST or disk.size % SECTOR:
        raise InputError(
            f"a FAT volume of {disk.size} bytes cannot be made",
            where=system.where("disk", disk.index, "size"),
            mend='write a size from "4M" to "1G", in whole sectors',
        )
    if not disk.file.parent.is_dir():
        raise InputError(
            f"there is no folder {disk.file.parent.name} for the disk",
            where=system.where("disk", disk.index, "file"),
            mend="make it",
        )


def has_virtual_interrupts(system: System, vm: Vm, what: str, where: str) -> None:
    """Check that a VM can have a virtual device, which has a virtual interrupt."""
    if system.board.transports is None or vm.interrupts == "direct":
        mend = 'write interrupts = "shared" for it'
        raise InputError(
            f'the interrupts of VM "{vm.name}" are direct, and {what} has a virtual one',
            where=where,
            mend=mend if system.board.transports is not None else "use a board with a GICv3",
        )


def _of_vm(system: System, disk: Disk, name: str) -> None:
    """Check the kind of a VM with a virtual disk, and the disk's content."""
    what = "a disk in memory" if disk.on is None else "a part of a disk"
    where = system.where("disk", disk.index, "vm")
    vm = next((vm for vm in system.vms if vm.name == name), None)
    if vm is None:
        known = ", ".join(vm.name for vm in system.vms if vm.kind != "tenon") or "none"
        raise InputError(f'no VM "{name}"', where=where, mend=f"those that may have one: {known}")
    has_virtual_interrupts(system, vm, what, where)
    if vm.kind == "tenon":
        _alone(system, disk, name, where)
    if vm.colours is not None:
        raise InputError(
            f'VM "{name}" has colours, and {what} has none',
            where=where,
            mend="give it to a VM without colours",
        )
    if disk.on is None:
        key = "file" if disk.file is not None else "size"
        _whole(system, disk, key, size(disk), "a disk of {} bytes is not one of whole sectors")
        if size(disk) == 0:
            raise InputError(
                "a disk cannot have 0 bytes",
                where=system.where("disk", disk.index, key),
                mend=f"make it a multiple of {SECTOR}",
            )


def _alone(system: System, disk: Disk, name: str, where: str) -> None:
    """Check that a Tenon VM has one virtual device, as it has one transport."""
    others = any(each.vm == name and each is not disk for each in system.disks)
    ports = any(port.vm == name for network in system.networks for port in network.ports)
    if others or ports:
        raise InputError(
            f'VM "{name}" is a Tenon VM, which has one disk or one network card',
            where=where,
            mend="give the disk to another VM",
        )


def of_image(system: System, name: str) -> Device | None:
    """The disk of a Tenon VM as a device of its image: the transport with its registers."""
    base = system.board.transports
    if base is None or all(disk.vm != name for disk in system.disks):
        return None
    what = "a virtio transport with a disk of Mortise's"
    return Device(kind=TRANSPORTS, help=what, base=base, size=TRANSPORT, interrupts=())


def _whole(system: System, disk: Disk, key: str, value: int, what: str) -> None:
    if value % SECTOR:
        raise InputError(
            what.format(value),
            where=system.where("disk", disk.index, key),
            mend=f"make it a multiple of {SECTOR}",
        )


def _drive(system: System, disk: Disk) -> Disk:
    """The disk that contains a part."""
    named = {each.name: each for each in system.disks if each.name is not None}
    drive = named.get(disk.on)
    if drive is None:
        raise InputError(
            f'no disk "{disk.on}"',
            where=system.where("disk", disk.index, "on"),
            mend=f"those with a name: {', '.join(map(str, named)) or 'none'}",
        )
    return drive


def _extent(system: System, disk: Disk) -> tuple[int, int]:
    """The offset of a part on its drive, and its size in bytes."""
    if disk.partition is None:
        assert disk.at is not None and disk.size is not None
        return disk.at, disk.size
    drive = _drive(system, disk)
    where = system.where("disk", disk.index, "partition")
    if drive.file is None or drive.format is not None:
        raise InputError(
            f'disk "{drive.name}" is empty at first, and has no partitions',
            where=where,
            mend="write at and size, or give it a file",
        )
    try:
        return partition_table.find(drive.file, disk.partition)
    except ValueError as error:
        raise InputError(
            f'disk "{drive.name}" {error}', where=where, mend="write at and size, or another one"
        ) from None


def _parts(system: System) -> None:
    """Check that parts lie within existing disks, and that no VM reads what another one writes."""
    names: set[str] = set()
    for disk in system.disks:
        if disk.name is not None and disk.name in names:
            raise InputError(
                f'two disks are called "{disk.name}"',
                where=system.where("disk", disk.index, "name"),
                mend="rename one",
            )
        names |= {disk.name} if disk.name is not None else set()
    seen: list[tuple[Disk, int, int]] = []
    for disk in system.disks:
        if disk.on is None:
            continue
        drive = _drive(system, disk)
        key = "at" if disk.partition is None else "partition"
        at, room = _extent(system, disk)
        _whole(system, disk, key, at, "a part that begins at byte {} does not begin with a sector")
        _whole(system, disk, "size", room, "a part of {} bytes is not one of whole sectors")
        if at + room > size(drive) // SECTOR * SECTOR:
            raise InputError(
                f'a part from {at} to {at + room} is beyond the end of disk "{drive.name}"',
                where=system.where("disk", disk.index, key),
                mend=f"it has {size(drive)} bytes",
            )
        for other, start, length in seen:
            apart = at >= start + length or start >= at + room
            if other.on == disk.on and not apart and not (disk.read_only and other.read_only):
                line = system.where("disk", other.index).rpartition(":")[2]
                raise InputError(
                    f'it overlaps another part of disk "{drive.name}" (line {line})',
                    where=system.where("disk", disk.index, key),
                    mend=f"that one is from {start} to {start + length}; both may if read_only",
                )
        seen.append((disk, at, room))
    for drive in system.drives:
        if not any(part.on == drive.name for part, _, _ in seen):
            raise InputError(
                f'no VM has a part of disk "{drive.name}"',
                where=system.where("disk", drive.index, "name"),
                mend=f'add a [[disk]] with vm and on = "{drive.name}"',
            )
    for drive in system.drives[DRIVES:]:
        raise InputError(
            f"Mortise has more than {DRIVES} disks of which VMs have parts",
            where=system.where("disk", drive.index),
            mend="use fewer",
        )


def _transport(system: System, drive: Disk) -> int:
    """The registers of a drive: transports of a page are assigned in order."""
    assert drive.device is not None
    behind = [each for _, _, device, each in system.attached if device == drive.device]
    return system.board.devices[drive.device].base + behind.index(drive) * TRANSPORT


def place(system: System, disk: Disk, vm: Vm, pa: int) -> DiskLayout:
    """The layout of a disk; content in memory is at `pa`."""
    before = sum(1 for other, of in system.virtual_disks if of is vm and other.index < disk.index)
    assert system.board.transports is not None
    at, room = (0, size(disk)) if disk.on is None else _extent(system, disk)
    return DiskLayout(
        vm=vm.name,
        pa=pa if disk.on is None else _transport(system, _drive(system, disk)),
        size=room,
        registers=system.board.transports + before * TRANSPORT,
        interrupt=system.board.gic.spare[before],
        read_only=disk.read_only,
        drive=disk.on is not None,
        first=at // SECTOR,
    )


def record(system: System, disk: DiskLayout) -> dict[str, Any]:
    """The record in the manifest."""
    return {
        "place": {"start": disk.pa, "size": TRANSPORT if disk.drive else disk.room},
        "registers": disk.registers,
        "sectors": disk.size // SECTOR,
        "first": disk.first,
        "interrupt": disk.interrupt,
        "vm": system.vm(disk.vm).index,
        "read_only": disk.read_only,
        "store": "drive" if disk.drive else "memory",
    }


def tree(root: Node, vm: Vm, layout: Layout) -> None:
    """The nodes of the transports of a VM's disks."""
    for disk in layout.disks:
        if disk.vm == vm.name:
            transport(root, disk.registers, disk.interrupt)


def transport(root: Node, base: int, intid: int) -> None:
    """The node of a virtio-mmio transport."""
    node = root.child(f"virtio_mmio@{base:x}")
    node.text("compatible", "virtio,mmio")
    node.longs("reg", base, TRANSPORT)
    node.cells("interrupts", 0, intid - _FIRST_SPI, _EDGE)
    node.flag("dma-coherent")
