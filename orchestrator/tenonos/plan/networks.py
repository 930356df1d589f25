"""Networks of a plan: which VMs have a card, and in which network it is.

A Tenon VM has one card if its demands need the IP stack: in a network between VMs, with each Linux
VM, or that of the machine, if it is alone and becomes an image without a hypervisor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tenonos.plan.amend import MORTISE
from tenonos.plan.colours import COLOURING
from tenonos.plan.models import (
    CHANNEL,
    DIRECT,
    LINUX,
    PARTITION,
    PROCESSES,
    Guest,
    Image,
    Item,
    Missing,
    Plan,
    is_bare,
    vms,
)
from tenonos.plan.pool import Pool
from tenonos.system.board import Board
from tenonos.system.networks import TRANSPORTS
from tenonos.system.schema import NetworkSpec, PortSpec, SystemSpec

IP, HTTP, NET = "net.ip", "net.http", "virt.net"
OF_PROCESSES = "tenon/linux-inet"
"""The library by which processes use the network."""
NEEDED, ALONE, BESIDE = (
    "what-is-demanded-needs-the-network",
    "alone-with-the-card-of-the-machine",
    "a-linux-on-the-network",
)
MODULES = ("virtio_mmio", "virtio_net")
"""The drivers of Linux for a card in a network."""
DATAGRAMS, PAGES = "7007:7/udp", "8080:80/tcp"
"""Ports of the host that lead to those at which applications of the pool answer."""
_CHANNEL = re.compile(r"channel|memory|\bring\b|mailbox", re.IGNORECASE)
"""Words of a channel beside a network; without them the network is what the VMs talk over."""
_VM = re.compile(r"\b(?:VMs?|guests?|partitions?|virtual machines?|hypervisor)\b", re.IGNORECASE)


def demanded(plan: Plan, pool: Pool) -> Plan:
    """The plan with the IP stack demanded of each Tenon VM with a demand that needs it, and of
    those in a virtual network with no or one Linux."""
    tenons = [guest.name for guest in plan.guests if guest.kind == "tenon"]
    linuxes = sum(guest.kind == "linux" for guest in plan.guests)
    items = list(plan.items)
    for item in plan.items:
        if item.kind != "capability" or item.value == IP:
            continue
        homes = [item.image] if item.image in tenons else tenons[:1]
        if item.value == NET:
            homes = tenons if linuxes < 2 <= linuxes + len(tenons) else []
        elif not pool.implies(str(item.value), IP):
            homes = []
        for home in homes:
            if not _has(home, items):
                update = {"value": IP, "image": home, "rule": NEEDED}
                items.append(item.model_copy(update=update))
    items = [item for item in items if not _is_over_ip(item, items)]
    return plan.model_copy(update={"items": items})


def _is_over_ip(item: Item, items: Sequence[Item]) -> bool:
    """Whether an item demands messages that the VM has by the network."""
    return (
        (item.kind, item.value) == ("capability", CHANNEL)
        and item.image is not None
        and _has(item.image, items)
        and not _CHANNEL.search(item.source or "")
    )


def _has(name: str, items: Sequence[Item]) -> bool:
    return any((i.kind, i.value, i.image) == ("capability", IP, name) for i in items)


def cards(guests: Sequence[Guest], items: Sequence[Item]) -> list[str]:
    """The Tenon VMs with a card."""
    return [guest.name for guest in guests if guest.kind == "tenon" and _has(guest.name, items)]


def members(guests: Sequence[Guest], items: Sequence[Item]) -> list[str]:
    """The VMs of the network between VMs; none if there is no such network."""
    asked = any((item.kind, item.value) == ("capability", NET) for item in items)
    own = cards(guests, items)
    if is_bare(items) or not (own or asked):
        return []
    found = [*own, *(guest.name for guest in guests if guest.kind == "linux")]
    return found if len(found) > 1 else []


def connected(plan: Plan) -> Plan:
    """The plan with a network for each card: that of the machine, or one with a Linux VM, which is
    added if there is no other member. Cards have interrupts from the hypervisor."""
    own = cards(plan.guests, plan.items)
    if not own or is_bare(plan.items):
        return plan
    if not members(plan.guests, plan.items):
        plan = _alone(plan) if may_be_bare(plan) else _beside_linux(plan)
    more = [
        Item(kind="capability", value=OF_PROCESSES, image=name, rule=NEEDED)
        for name in own
        if any(item.value in PROCESSES for item in plan.of(name, "capability"))
    ]
    guests = [
        guest.model_copy(update={"interrupts": "shared"}) if guest.name in own else guest
        for guest in plan.guests
    ]
    return plan.model_copy(update={"guests": guests, "items": [*plan.items, *more]})


def may_be_bare(plan: Plan) -> bool:
    """Whether one image is the whole system: neither a demand nor a word is of a hypervisor, or no
    other VM may be added."""
    if len(plan.guests) > 1 or any(item.image == MORTISE for item in plan.items):
        return False
    return _is_closed(plan) or not _VM.search(plan.objective)


def _is_closed(plan: Plan) -> bool:
    """Whether Linux is forbidden, or the number of VMs stated."""
    return any(
        (item.kind, item.value) == ("forbid", LINUX) or (item.kind == "vms" and item.stated)
        for item in plan.items
    )


def _alone(plan: Plan) -> Plan:
    item = Item(kind="forbid", value=PARTITION, rule=ALONE)
    return plan.model_copy(update={"items": [*plan.items, item]})


def _beside_linux(plan: Plan) -> Plan:
    if _is_closed(plan):
        return plan
    item = Item(kind="capability", value=LINUX, image="linux", rule=BESIDE)
    guests = [*plan.guests, Guest(name="linux", kind="linux")]
    counted = [
        each.model_copy(update={"value": len(vms(guests))}) if each.kind == "vms" else each
        for each in plan.items
    ]
    return plan.model_copy(update={"guests": guests, "items": [*counted, item]})


def missing(guests: Sequence[Guest], items: Sequence[Item], board: Board) -> Iterator[Missing]:
    """Demands for a network that has no other member, or no card."""
    there = members(guests, items)
    made = {guest.name for guest in guests if guest.made_by}
    card = is_bare(items) and any(d.kind == TRANSPORTS for d in board.devices.values())
    for item in items:
        if item.kind != "capability" or item.value not in (IP, NET):
            continue
        if (item.value == NET and not there) or (
            item.value == IP and (item.image in made or not (card or item.image in there))
        ):
            yield Missing(capability=str(item.value), source=item.source)


def objection(guests: Sequence[Guest], items: Sequence[Item]) -> str | None:
    """The reason why a network is not possible, in one clause."""
    there = members(guests, items)
    asked = {item.value for item in items if item.kind == "capability" and item.stated}
    if there and COLOURING in asked:
        return "a VM with colours of its own can have no card in a network between VMs"
    if there and DIRECT in asked and {*there} >= {guest.name for guest in vms(guests)}:
        return "a VM with a card in a network has its interrupts from the hypervisor"
    return None


def keyed(spec: SystemSpec, plan: Plan, images: Mapping[str, Image], board: Board) -> SystemSpec:
    """The system with the network of its cards: an address for each VM and the drivers of Linux, or
    a card of the machine with forwarded ports."""
    there = members(plan.guests, plan.items)
    own = cards(plan.guests, plan.items)
    if there:
        ports = [PortSpec(vm=name, address=f"10.0.0.{n}/24") for n, name in enumerate(there, 1)]
        network = NetworkSpec(name="lan", vms=there, port=ports)
        drivers = {vm.name: list(dict.fromkeys([*vm.modules, *MODULES])) for vm in spec.vm}
        changed = [
            vm.model_copy(update={"modules": drivers[vm.name]})
            if vm.name in there and vm.kind == "linux"
            else vm
            for vm in spec.vm
        ]
        return spec.model_copy(update={"network": [network], "vm": changed})
    if own and is_bare(plan.items):
        device = next(name for name, each in board.devices.items() if each.kind == TRANSPORTS)
        image = images[own[0]]
        pages = {HTTP, OF_PROCESSES} & {*image.capabilities, *image.libraries}
        network = NetworkSpec(device=device, forward=[DATAGRAMS, *([PAGES] if pages else [])])
        return spec.model_copy(update={"network": [network]})
    return spec
