"""Networks between VMs: checks; layout, manifest records and device tree nodes of their cards."""

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

from tenonos.errors import InputError
from tenonos.system.board import Device
from tenonos.system.disks import TRANSPORT, TRANSPORTS, has_virtual_interrupts, transport
from tenonos.system.limits import PORTS
from tenonos.system.memory_map import Layout, PortLayout
from tenonos.system.model import Network, Port, System, Vm
from tenonos.system.node import Node

GENERATED = "busybox"
"""The initramfs whose init sets addresses."""

NUMBERS = 256
"""The most networks: the number of one is a byte of the addresses of its cards."""

PREFIX = bytes.fromhex("02746e6e")
"""First bytes of an address that is not given: of a card, administered locally (IEEE 802, 8.4)."""


def check(system: System) -> None:
    """Check that each network is the emulator's, or one of Mortise's between VMs."""
    if len(system.networks) > NUMBERS:
        raise InputError(
            f"a system has more than {NUMBERS} networks",
            where=system.where("network", NUMBERS),
            mend="use fewer",
        )
    _forwards(system)
    names: set[str] = set()
    cards = Counter(disk.vm for disk in system.disks)
    for network in system.networks:
        where = system.where("network", network.index)
        if (network.device is None) == (not network.ports):
            raise InputError(
                "a network is behind a device, or between VMs",
                where=where,
                mend='write device = "virtio0", or name = "lan" and vms = ["left", "right"]',
            )
        if network.device is not None:
            _keys(system, network)
            continue
        if network.name is None or network.name in names:
            raise InputError(
                "a network between VMs has a name"
                if network.name is None
                else f'two networks are called "{network.name}"',
                where=where,
                mend='write name = "lan"' if network.name is None else "rename one",
            )
        if network.forward:
            raise InputError(
                "forward is for a network behind a device",
                where=system.where("network", network.index, "forward"),
                mend="remove it: no port of the host leads to a network between VMs",
            )
        names.add(network.name)
        _ports(system, network)
        for port in network.ports:
            cards[port.vm] += 1
            _alone(system, port, cards, where)
            most = len(system.board.gic.spare)
            if cards[port.vm] > most:
                raise InputError(
                    f'VM "{port.vm}" has more than {most} disks and network cards of Mortise\'s',
                    where=where,
                    mend="use fewer",
                )
    if sum(len(network.ports) for network in system.networks) > PORTS:
        raise InputError(
            f"networks between VMs have more than {PORTS} ports",
            where=system.where("network"),
            mend="use fewer",
        )


def _forwards(system: System) -> None:
    """Check that each port of the host leads to one port of a card."""
    taken: dict[tuple[int, str], str] = {}
    for network in system.networks:
        for port in network.forward:
            numbers, _, protocol = port.partition("/")
            host = int(numbers.partition(":")[0])
            if (first := taken.get((host, protocol))) is not None:
                raise InputError(
                    f'"{first}" and "{port}" have the same port {host}/{protocol} of the host',
                    where=system.where("network", network.index, "forward"),
                    mend="give one of them another first number",
                )
            taken[host, protocol] = port


def _keys(system: System, network: Network) -> None:
    """Refuse keys of a network between VMs for one of the emulator's."""
    for key in ("name", "port"):
        path = ("network", network.index, key)
        if any(known[:3] == path for known in system.lines):
            raise InputError(
                f"{key} is for a network between VMs",
                where=system.where(*path),
                mend="remove it, or write vms for this one in place of device",
            )


def _ports(system: System, network: Network) -> None:
    """Check the VMs of a network, and the keys of their ports."""
    where = system.where("network", network.index, "vms")
    if len(network.ports) < 2:
        raise InputError(
            f'network "{network.name}" has one VM', where=where, mend="name two or more"
        )
    seen: set[str] = set()
    addresses: dict[bytes, str] = {}
    hosts: dict[IPv4Address, str] = {}
    for port in network.ports:
        if port.vm in seen:
            raise InputError(
                f'VM "{port.vm}" is twice in network "{network.name}"',
                where=where,
                mend="name it once",
            )
        seen.add(port.vm)
        _vm(system, port, where)
        given = where if port.index is None else _at(system, network, port, "mac")
        if port.address is not None:
            _address(system, network, port, hosts)
        mac = address(network, port)
        if mac in addresses:
            raise InputError(
                f'VM "{port.vm}" has the address of VM "{addresses[mac]}"',
                where=given,
                mend="give it another mac, or leave the key out",
            )
        addresses[mac] = port.vm
        if mac[0] & 1 or not any(mac):
            raise InputError(
                f"{mac.hex(':')} is not the address of one card",
                where=given,
                mend='write one as mac = "02:00:00:00:00:01"',
            )
    of: set[str] = set()
    for index, name in enumerate(network.keyed):
        if name not in seen or name in of:
            raise InputError(
                f'VM "{name}" has two tables of keys'
                if name in of
                else f'VM "{name}" is not in network "{network.name}"',
                where=system.where("network", network.index, "port", index, "vm"),
                mend="remove one" if name in of else f"those in it: {', '.join(sorted(seen))}",
            )
        of.add(name)


def _address(system: System, network: Network, port: Port, hosts: dict[IPv4Address, str]) -> None:
    """Check the IPv4 address of a port: one of this host, for a VM that is configured by it."""
    where, vm = _at(system, network, port, "address"), system.vm(port.vm)
    host = IPv4Interface(str(port.address)).ip
    if host in hosts:
        raise InputError(
            f'VM "{port.vm}" has the address of VM "{hosts[host]}"',
            where=where,
            mend="give it another one",
        )
    hosts[host] = port.vm
    own = vm.root == "disk" or vm.initramfs != GENERATED
    if vm.kind == "image" or (vm.kind == "linux" and own):
        raise InputError(
            f'VM "{port.vm}" is not configured by its description',
            where=where,
            mend="remove the address, and let the guest set it",
        )


def _at(system: System, network: Network, port: Port, key: str) -> str:
    assert port.index is not None
    return system.where("network", network.index, "port", port.index, key)


def _alone(system: System, port: Port, cards: Mapping[str, int], where: str) -> None:
    """Check that a Tenon VM has one card, as its network stack drives one."""
    if system.vm(port.vm).kind == "tenon" and cards[port.vm] > 1:
        raise InputError(
            f'VM "{port.vm}" is in two networks, and a Tenon VM drives one card',
            where=where,
            mend="leave it out of one",
        )


def _vm(system: System, port: Port, where: str) -> None:
    """Check that a VM can have a card."""
    vm = next((vm for vm in system.vms if vm.name == port.vm), None)
    if vm is None:
        known = ", ".join(vm.name for vm in system.vms)
        raise InputError(f'no VM "{port.vm}"', where=where, mend=f"those there are: {known}")
    has_virtual_interrupts(system, vm, "a network card", where)
    if vm.colours is not None:
        raise InputError(
            f'VM "{vm.name}" has colours, and Mortise copies no frames by colour',
            where=where,
            mend="leave colours out, or leave it out of the network",
        )


def address(network: Network, port: Port) -> bytes:
    """The Ethernet address of a port: the one given, or one by the numbers of network and port."""
    if port.mac is not None:
        return port.mac
    return PREFIX + bytes((network.index, network.ports.index(port) + 1))


def _cards(system: System) -> Iterator[tuple[Network, Port, Vm]]:
    """The ports of all networks of Mortise's, with their VMs."""
    for network in system.networks:
        for port in network.ports:
            yield network, port, system.vm(port.vm)


def place(system: System) -> tuple[PortLayout, ...]:
    """The layout of all ports; a VM's cards are behind its virtual disks."""
    taken: Counter[str] = Counter(vm.name for _, vm in system.virtual_disks)
    found = []
    for network, port, vm in _cards(system):
        assert system.board.transports is not None
        found.append(
            PortLayout(
                vm=vm.name,
                network=network.index,
                mac=address(network, port),
                rate=port.rate or 0,
                isolated=port.isolated,
                registers=system.board.transports + taken[vm.name] * TRANSPORT,
                interrupt=system.board.gic.spare[taken[vm.name]],
            )
        )
        taken[vm.name] += 1
    return tuple(found)


def hosts(system: System, vm: Vm) -> dict[str, str]:
    """The IPv4 addresses that a VM's cards are given, by the Ethernet addresses of the cards."""
    return {
        address(network, port).hex(":"): port.address
        for network, port, of in _cards(system)
        if of.name == vm.name and port.address is not None
    }


def card(system: System, name: str) -> Device | None:
    """The card of a Tenon VM as a device of its image: the transport with its registers."""
    found = (port for port in place(system) if port.vm == name)
    port = next(found, None)
    if port is None:
        return None
    what = "a virtio transport with a card of Mortise's"
    return Device(kind=TRANSPORTS, help=what, base=port.registers, size=TRANSPORT, interrupts=())


def record(system: System, port: PortLayout) -> dict[str, Any]:
    """The record in the manifest.

    It is that of a disk, with the rate in place of the size, and the address with the number of the
    network in place of the first sector.
    """
    return {
        "place": {"start": 0, "size": 0},
        "registers": port.registers,
        "sectors": port.rate,
        "first": int.from_bytes(port.mac + port.network.to_bytes(2, "little"), "little"),
        "interrupt": port.interrupt,
        "vm": system.vm(port.vm).index,
        "read_only": port.isolated,
        "store": "network",
    }


def tree(root: Node, vm: Vm, layout: Layout) -> None:
    """The nodes of the transports of a VM's cards."""
    for port in layout.ports:
        if port.vm == vm.name:
            transport(root, port.registers, port.interrupt)
