"""The emulator's backends for devices of a system: disks, networks and PCI devices."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tenonos import outputs, paths
from tenonos.linux import root_disk
from tenonos.system import fat
from tenonos.system.bare import BARE
from tenonos.system.model import Card, Disk, Network, RootDisk, System


def arguments(system: System, folder: Path) -> tuple[str, ...]:
    """The emulator's options. Disks that are empty at first are files in `folder`."""
    found: list[str] = []
    if system.drives or (system.mode == BARE and system.attached):
        # The drivers of the pool speak virtio 1; Linux's speaks both.
        found += ["-global", "virtio-mmio.force-legacy=false"]
    taken: Counter[str] = Counter()
    for table, index, device, each in system.attached:
        first = system.board.devices[device].transports
        # Behind a root complex the emulator takes the next free slot.
        behind, bus = "pci", "pcie.0"
        if first is not None:
            behind, bus = "device", f"virtio-mmio-bus.{first + taken[device]}"
        name = f"{table}{index}"
        taken[device] += 1
        if isinstance(each, RootDisk):
            model = f"virtio-blk-{behind},drive={name}"
            disk = root_disk.make(each.vm.packages, str(each.vm.kernel)).disk
            source = f"file={_escaped(disk)},format=raw,snapshot=on"
            found += ["-drive", f"{source},if=none,id={name}"]
        elif isinstance(each, Disk):
            model = f"virtio-blk-{behind},drive={name}"
            # Writes are discarded after the run, so that runs are repeatable, unless they are to
            # persist.
            snapshot = "" if each.keep else ",snapshot=on"
            source = f"file={_escaped(_file(each, folder / name))},format=raw{snapshot}"
            found += ["-drive", f"{source},if=none,id={name}"]
        elif isinstance(each, Card):
            model = each.model
        else:
            # The option ROM of a card is a file that may be missing.
            plain = ",romfile=" if behind == "pci" else ""
            model = f"virtio-net-{behind},netdev={name}{plain}"
            found += ["-netdev", f"user,id={name}{_reach(each)}"]
        found += ["-device", f"{model},bus={bus}"]
    return tuple(found)


def _reach(network: Network) -> str:
    """The emulator's options for what reaches a card, and what it reaches."""
    # An isolated card receives datagrams of forwarded ports, and its answers are dropped (udp.c of
    # libslirp).
    isolated = not any(port.endswith("/udp") for port in network.forward)
    return (",restrict=on" if isolated else "") + "".join(map(_forwarded, network.forward))


def _forwarded(port: str) -> str:
    """The emulator's option for a forwarded port, of this machine alone."""
    numbers, protocol = port.split("/")
    host, guest = numbers.split(":")
    return f",hostfwd={protocol}:127.0.0.1:{host}-:{guest}"


def _file(disk: Disk, empty: Path) -> Path:
    if disk.file is not None:
        if disk.format is not None and disk.size is not None:
            with outputs.writing(disk.file):
                fat.make(disk.file, disk.size)
        return disk.file
    paths.ensure(empty.parent)
    with empty.open("wb") as file:
        file.truncate(disk.size)  # sparse
    return empty


def _escaped(path: Path) -> str:
    return str(path).replace(",", ",,")
