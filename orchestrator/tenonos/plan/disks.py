"""Disks of a plan: which VMs have files on a disk, and which disk that is.

A Tenon VM with files has a disk of its own: that of the machine, if it is alone and becomes an
image without a hypervisor, or one that Mortise drives for it. Files of a Linux VM are on a disk in
memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenonos.plan import effects
from tenonos.plan.colours import COLOURING
from tenonos.plan.models import (
    DIRECT,
    PARTITION,
    PROCESSES,
    Guest,
    Item,
    Missing,
    Plan,
    is_bare,
    vms,
)
from tenonos.plan.networks import cards, may_be_bare
from tenonos.system.board import Board
from tenonos.system.disks import TRANSPORTS
from tenonos.system.limits import DRIVES
from tenonos.system.schema import DiskSpec, SystemSpec
from tenonos.system.units import size_text

FILES = "fs.block"
OF_AN_IMAGE = "tenon/disk-log"
"""The library by which an application has them."""
OF_PROCESSES = "tenon/linux-disk"
"""The library by which processes have files on a disk."""
ALONE, OF_LINUX, NEEDED = (
    "alone-with-the-disk-of-the-machine",
    "linux-has-the-file-system",
    "what-is-demanded-needs-the-disk",
)
SIZE = 16 << 20
"""Bytes of the volume of a VM."""


def owners(guests: Sequence[Guest], items: Sequence[Item]) -> list[str]:
    """The Tenon VMs with files on a disk."""
    asked = {item.image for item in items if (item.kind, item.value) == ("capability", FILES)}
    return [guest.name for guest in guests if guest.kind == "tenon" and guest.name in asked]


def named(plan: Plan) -> Plan:
    """The plan with files on a disk demanded where the words are those of their library."""
    items = [
        item.model_copy(update={"value": FILES})
        if (item.kind, item.value) == ("capability", OF_AN_IMAGE)
        else item
        for item in plan.items
    ]
    return plan.model_copy(update={"items": items})


def connected(plan: Plan) -> Plan:
    """The plan with a disk for each VM with files. Those of Mortise have their interrupts from the
    hypervisor."""
    linuxes = {guest.name for guest in plan.guests if guest.kind == "linux"}
    items = [
        item.model_copy(update={"value": effects.DISK, "rule": OF_LINUX})
        if (item.kind, item.value) == ("capability", FILES) and item.image in linuxes
        else item
        for item in plan.items
    ]
    plan = plan.model_copy(update={"items": items})
    own = owners(plan.guests, plan.items)
    more = [
        Item(kind="capability", value=OF_PROCESSES, image=name, rule=NEEDED)
        for name in own
        if any(item.value in PROCESSES for item in plan.of(name, "capability"))
    ]
    if own and not is_bare(plan.items) and may_be_bare(plan):
        more.append(Item(kind="forbid", value=PARTITION, rule=ALONE))
    guests = [
        guest.model_copy(update={"interrupts": "shared"}) if guest.name in own else guest
        for guest in plan.guests
    ]
    return plan.model_copy(update={"guests": guests, "items": [*plan.items, *more]})


def missing(guests: Sequence[Guest], items: Sequence[Item], board: Board) -> Iterator[Missing]:
    """Demands for files of a VM that can have no disk."""
    made = {guest.name for guest in guests if guest.made_by}
    there = any(device.kind == TRANSPORTS for device in board.devices.values())
    there = there and (is_bare(items) or board.transports is not None)
    for item in items:
        if (item.kind, item.value) == ("capability", FILES) and (item.image in made or not there):
            yield Missing(capability=FILES, source=item.source)


def of_mortise(guests: Sequence[Guest], items: Sequence[Item]) -> Iterator[str]:
    """The capability of the hypervisor without which VMs have no such disk."""
    if owners(guests, items) and not is_bare(items):
        yield effects.DRIVE


def objection(guests: Sequence[Guest], items: Sequence[Item]) -> str | None:
    """The reason why disks are not possible, in one clause."""
    own = owners(guests, items)
    if not own:
        return None
    if both := [name for name in cards(guests, items) if name in own]:
        return f"{both[0]} is a real-time VM, which has one disk or one network card"
    if is_bare(items):
        return None
    asked = {item.value for item in items if item.kind == "capability" and item.stated}
    if COLOURING in asked:
        return "a VM with colours of its own can have no disk of Mortise's"
    if DIRECT in asked and {*own} >= {guest.name for guest in vms(guests)}:
        return "a VM with a disk of Mortise's has its interrupts from the hypervisor"
    if len(own) + (effects.DRIVE in asked) > DRIVES:
        return f"{len(own)} VMs have files on a disk, and Mortise drives {DRIVES} disks"
    return None


def keyed(spec: SystemSpec, plan: Plan, board: Board) -> SystemSpec:
    """The system with the disks: a file with an empty volume for each, which is made at the first
    run and kept."""
    own = owners(plan.guests, plan.items)
    if not own:
        return spec
    device = next(name for name, each in board.devices.items() if each.kind == TRANSPORTS)
    size, disks = size_text(SIZE), list(spec.disk)
    for name in own:
        disk = DiskSpec(
            device=device,
            file="disk.img" if len(own) == 1 else f"{name}.img",
            size=size,
            format="fat",
            keep=True,
        )
        if is_bare(plan.items):
            disks.append(disk)
            continue
        disks.append(disk.model_copy(update={"name": f"files-{len(disks)}"}))
        disks.append(DiskSpec(vm=name, on=disks[-1].name, at="0", size=size))
    return spec.model_copy(update={"disk": disks})
