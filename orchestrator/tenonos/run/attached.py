"""What the emulator puts behind the devices of a system: its disks and networks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tenonos import paths
from tenonos.system.model import Disk, System


def arguments(system: System, folder: Path) -> tuple[str, ...]:
    """The emulator's options for them. What is empty at first is a file in `folder`."""
    found: list[str] = []
    taken: Counter[str] = Counter()
    for table, index, each in system.attached:
        first = system.board.devices[each.device].transports
        assert first is not None
        name, bus = f"{table}{index}", first + taken[each.device]
        taken[each.device] += 1
        if isinstance(each, Disk):
            kind, end = "virtio-blk-device", f"drive={name}"
            # What is written is gone after the run: each one begins with the same.
            source = f"file={_escaped(_file(each, folder / name))},format=raw,snapshot=on"
            found += ["-drive", f"{source},if=none,id={name}"]
        else:
            kind, end = "virtio-net-device", f"netdev={name}"
            found += ["-netdev", f"user,id={name},restrict=on"]
        found += ["-device", f"{kind},{end},bus=virtio-mmio-bus.{bus}"]
    return tuple(found)


def _file(disk: Disk, empty: Path) -> Path:
    if disk.file is not None:
        return disk.file
    paths.ensure(empty.parent)
    with empty.open("wb") as file:
        file.truncate(disk.size)  # takes no room until something is written
    return empty


def _escaped(path: Path) -> str:
    return str(path).replace(",", ",,")
