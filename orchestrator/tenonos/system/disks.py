"""Disks: checked, and of those in memory where they are, told to Mortise and to who uses them."""

from collections import Counter
from typing import Any

from tenonos.errors import InputError
from tenonos.system.limits import DISKS
from tenonos.system.model import Disk, System, Vm
from tenonos.system.node import Node
from tenonos.system.places import DiskLayout, Layout

SECTOR = 512
"""Bytes of a sector (virtio 1.2, 5.2.4)."""

TRANSPORT = 0x200
"""Bytes of the registers of a transport (pool/core/manifest)."""

_EDGE = 1
_FIRST_SPI = 32


def size(disk: Disk) -> int:
    """Bytes that it has."""
    if disk.file is not None:
        return disk.file.stat().st_size
    assert disk.size is not None
    return disk.size


def check(system: System) -> None:
    """Each disk has a content and one place, in which it can be used."""
    of: Counter[str] = Counter()
    for disk in system.disks:
        where = system.where("disk", disk.index)
        if (disk.device is None) == (disk.vm is None):
            raise InputError(
                "a disk is behind a device, or a VM's in memory",
                where=where,
                mend='write device = "virtio0" or vm = "linux"',
            )
        if (disk.file is None) == (disk.size is None):
            raise InputError(
                "a disk has a file, or is empty and has a size",
                where=where,
                mend='write file = "disk.img" or size = "8M"',
            )
        if disk.file is not None and not disk.file.is_file():
            raise InputError(
                f'no disk "{disk.file.name}"',
                where=system.where("disk", disk.index, "file"),
                mend="give a file with its content, byte for byte",
            )
        if disk.vm is not None:
            _in_memory(system, disk, disk.vm)
            of[disk.vm] += 1
            most = len(system.board.gic.spare)
            if of[disk.vm] > most or of.total() > DISKS:
                raise InputError(
                    f'more than {most} disks in memory are VM "{disk.vm}"\'s, or {DISKS} in all',
                    where=where,
                    mend="use fewer",
                )
        elif disk.read_only:
            raise InputError(
                "a disk behind a device can be written",
                where=system.where("disk", disk.index, "read_only"),
                mend="remove read_only, or give the disk to a VM in memory",
            )


def _in_memory(system: System, disk: Disk, name: str) -> None:
    """What a VM must be to have one, and what its content must be."""
    where = system.where("disk", disk.index, "vm")
    vm = next((vm for vm in system.vms if vm.name == name), None)
    if vm is None:
        known = ", ".join(vm.name for vm in system.vms if vm.kind != "tenon") or "none"
        raise InputError(f'no VM "{name}"', where=where, mend=f"those that may have one: {known}")
    if system.board.transports is None or vm.interrupts == "direct":
        mend = 'write interrupts = "shared" for it'
        raise InputError(
            f'the interrupts of VM "{name}" are direct, and a disk in memory has a virtual one',
            where=where,
            mend=mend if system.board.transports is not None else "use a board with a GICv3",
        )
    if vm.kind == "tenon":
        raise InputError(
            f'VM "{name}" is a Tenon VM, which has no driver for a disk',
            where=where,
            mend="give it to a Linux VM or one of any image",
        )
    if vm.colours is not None:
        raise InputError(
            f'VM "{name}" has colours, and a disk in memory has none',
            where=where,
            mend="give it to a VM without colours",
        )
    key = "file" if disk.file is not None else "size"
    if size(disk) == 0 or size(disk) % SECTOR:
        raise InputError(
            f"a disk of {size(disk)} bytes is not one of whole sectors",
            where=system.where("disk", disk.index, key),
            mend=f"make it a multiple of {SECTOR}",
        )


def place(system: System, disk: Disk, vm: Vm, pa: int) -> DiskLayout:
    """A disk whose content is at `pa`."""
    before = sum(1 for other, of in system.memory_disks if of is vm and other.index < disk.index)
    assert system.board.transports is not None
    return DiskLayout(
        vm=vm.name,
        pa=pa,
        size=size(disk),
        registers=system.board.transports + before * TRANSPORT,
        interrupt=system.board.gic.spare[before],
        read_only=disk.read_only,
    )


def record(system: System, disk: DiskLayout) -> dict[str, Any]:
    """What Mortise reads of it."""
    return {
        "memory": {"start": disk.pa, "size": disk.room},
        "registers": {"start": disk.registers, "size": TRANSPORT},
        "sectors": disk.size // SECTOR,
        "interrupt": disk.interrupt,
        "vm": system.vm(disk.vm).index,
        "read_only": disk.read_only,
    }


def tree(root: Node, vm: Vm, layout: Layout) -> None:
    """The transports of its disks, as the VM's tree has them."""
    for disk in layout.disks:
        if disk.vm == vm.name:
            transport(root, disk.registers, disk.interrupt)


def transport(root: Node, base: int, intid: int) -> None:
    """A virtio-mmio transport, whoever has it."""
    node = root.child(f"virtio_mmio@{base:x}")
    node.text("compatible", "virtio,mmio")
    node.longs("reg", base, TRANSPORT)
    node.cells("interrupts", 0, intid - _FIRST_SPI, _EDGE)
    node.flag("dma-coherent")
