"""Devices owned by VMs, and the emulator's backends: checks."""

from collections import Counter
from difflib import get_close_matches

from tenonos.errors import InputError
from tenonos.system.bare import BARE
from tenonos.system.board import PCIE, SERIAL
from tenonos.system.limits import INTERRUPTS
from tenonos.system.model import Card, Disk, System, Vm
from tenonos.system.units import size_text

TRANSPORTS = 8
"""The number of virtio transports in a page."""

DMA = ("virtio-mmio",)
"""Kinds of devices with DMA to physical addresses."""


def check(system: System) -> None:
    """Check that devices are known, and have at most one owner, of a suitable kind."""
    owner: dict[str, str] = {}
    kept = {disk.device: disk.name for disk in system.drives}
    for vm in system.vms:
        where = system.at(vm, "devices")
        for name in vm.devices:
            _known(system, name, where)
            if name in kept:
                raise InputError(
                    f'device "{name}" belongs to Mortise, as VMs have parts of disk "{kept[name]}"',
                    where=where,
                    mend="give the VM a part of it too, or all disks of another device",
                )
            if name in owner:
                raise InputError(
                    f'device "{name}" is given to "{owner[name]}" already',
                    where=where,
                    mend="one VM only",
                )
            owner[name] = vm.name
            kind = system.board.devices[name].kind
            if kind in DMA:
                _reaches_memory(system, vm, name)
            if _NEAR in (system.board.devices[name].machine or "").split(","):
                _with_near_memory(system, name, where)
            if kind == PCIE:
                _behind_iommu(system, vm, name)
        if SERIAL in vm.devices and (vm.kind == "image" or len(system.guests) > 1):
            raise InputError(
                f'VM "{vm.name}" may not own the serial port, which is the console of others',
                where=where,
                mend="give it to a Linux or a Tenon VM that is the only one",
            )
        if sum(len(system.board.devices[name].interrupts) for name in vm.devices) > INTERRUPTS:
            raise InputError(
                f'devices of VM "{vm.name}" have more than {INTERRUPTS} interrupts',
                where=where,
                mend="give it fewer",
            )
    _attached(system, owner)


_NEAR = "highmem=off"
"""The option of the emulator's machine with which all of it is below 4 GiB."""


def _with_near_memory(system: System, name: str, where: str) -> None:
    board = system.board
    if board.ram_end > board.near_end:
        raise InputError(
            f'device "{name}": {board.name} has it with RAM below 4 GiB only',
            where=where,
            mend=f'write ram = "{size_text(board.near_end - board.ram.base)}" in [machine]',
        )


def _known(system: System, name: str, where: str) -> None:
    known = system.board.devices
    if name not in known:
        close = get_close_matches(name, known, 1, 0.6)
        has = f"it has {', '.join(known) or 'none'}"
        raise InputError(
            f'{system.board.name} has no device "{name}"',
            where=where,
            mend=f"did you mean {close[0]}?" if close else has,
        )


def _reaches_memory(system: System, vm: Vm, name: str) -> None:
    """Check that guest addresses of a VM are valid for DMA by its device."""
    if vm.kind == "linux":  # its memory is mapped one to one
        return
    wrong = f'device "{name}" reads and writes memory where it is, and VM "{vm.name}" sees its own'
    if vm.foreign is None:
        mend = "give it to a Linux VM, which sees its memory where it is"
    elif vm.memory_at == vm.foreign.seen_at:
        return
    else:
        mend = "write memory_at and memory_seen_at, the same address"
    raise InputError(f"{wrong} elsewhere", where=system.at(vm, "devices"), mend=mend)


def _behind_iommu(system: System, vm: Vm, name: str) -> None:
    """Check that PCI devices are confined to the memory of their VM, by an IOMMU under Mortise."""
    where = system.at(vm, "devices")
    for wrong, mend in (
        (
            system.board.devices[name].iommu is None
            and f"{system.board.name} has no IOMMU in front of it, and its cards reach all memory",
            "leave it to nobody",
        ),
        (system.mode != "static" and "VMs come and go", 'write mode = "static"'),
        (
            vm.interrupts != "shared" and f'interrupts of VM "{vm.name}" do not come to Mortise',
            'write interrupts = "shared"',
        ),
        (
            vm.colours is not None and f'VM "{vm.name}" has colours, and tables for cards none',
            "leave colours out",
        ),
    ):
        if wrong:
            raise InputError(f'device "{name}": {wrong}', where=where, mend=mend)


def _attached(system: System, owner: dict[str, str]) -> None:
    """Check that disks and networks use transports of a VM, with no page overfull."""
    behind: Counter[str] = Counter()
    for table, index, name, each in system.attached:
        where = system.where(table, index, "device")
        _known(system, name, where)
        device = system.board.devices[name]
        if isinstance(each, Card) and device.kind != PCIE:
            raise InputError(f'device "{name}" has no bus for cards', where=where, mend="use pcie")
        if device.transports is None and device.kind != PCIE:
            raise InputError(
                f'device "{name}" is not a page of virtio transports',
                where=where,
                mend="use one, or pcie",
            )
        if isinstance(each, Disk) and each in system.drives:
            if device.kind == PCIE:
                raise InputError(
                    f'disk "{each.name}" is a card, of which Mortise has no driver',
                    where=where,
                    mend="put it behind a page of virtio transports",
                )
        elif name in {drive.device for drive in system.drives}:
            raise InputError(
                f'device "{name}" belongs to Mortise with all its disks, and no VM has'
                " a part of it",
                where=where,
                mend="use another device",
            )
        elif name not in owner and system.mode != BARE:  # there the image owns all devices
            raise InputError(
                f'device "{name}" belongs to no VM',
                where=where,
                mend=f'write devices = ["{name}"] for the VM that has it',
            )
        behind[name] += 1
        if behind[name] > TRANSPORTS:
            raise InputError(
                f'more than {TRANSPORTS} disks, networks and cards are behind "{name}"',
                where=where,
                mend="use another device",
            )
