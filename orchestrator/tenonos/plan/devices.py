"""Assignment of board devices to VMs, by the drivers in their images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenonos.plan.disks import FILES
from tenonos.plan.models import Guest, Image
from tenonos.plan.networks import IP
from tenonos.plan.pool import Pool
from tenonos.system.board import Board
from tenonos.system.networks import TRANSPORTS


class NoDevice(Exception):
    """A driver of a VM without a device; `args` has the reason, `images` the VMs concerned."""

    def __init__(self, why: str, images: Sequence[str]) -> None:
        super().__init__(why)
        self.images = tuple(images)


def given(
    pool: Pool, board: Board, guests: Sequence[Guest], images: Mapping[str, Image]
) -> dict[str, list[str]]:
    """The names of the devices of each VM: for Tenon one of each kind that a library of its image
    drives; for Linux the devices behind an IOMMU that Mortise drives."""
    owner: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for guest in guests:
        kinds = _driven(pool, images[guest.name]) if guest.kind == "tenon" else []
        if {IP, FILES} & {*images[guest.name].capabilities}:
            # Its card or disk is one of Mortise's.
            kinds = [kind for kind in kinds if kind != TRANSPORTS]
        if kinds and guest.made_by:
            raise NoDevice("a VM that is created on demand has no devices", [guest.name])
        for kind in kinds:
            known = [name for name, device in board.devices.items() if device.kind == kind]
            free = next((name for name in known if name not in owner), None)
            if free is None:
                takers = [owner[name] for name in known]
                count = f"{len(known)} {kind}" if known else f"no {kind}"
                raise NoDevice(
                    f"{board.name} has {count}, and a device has one owner",
                    [*takers, guest.name],
                )
            owner[free] = guest.name
            found.setdefault(guest.name, []).append(free)
    for kind in _driven(pool, images["mortise"]):
        names = [name for name, device in board.devices.items() if device.kind == kind]
        if not names:
            raise NoDevice(f"{board.name} has no {kind}", ["mortise"])
        found.setdefault(_with_cards(guests, images["mortise"]), []).append(names[0])
    return found


def _driven(pool: Pool, image: Image) -> list[str]:
    """The kinds of devices that libraries of an image drive."""
    crates = pool.index.by_id
    return [k for name in image.libraries if name in crates for k in crates[name].drives]


def _with_cards(guests: Sequence[Guest], mortise: Image) -> str:
    """The VM with PCI devices that Mortise confines to its memory."""
    systems = [guest.name for guest in guests if guest.kind == "linux"]
    if "virt.dispatch" in mortise.capabilities:
        raise NoDevice(
            "PCI devices are confined to the memory of a VM in static systems only", ["mortise"]
        )
    if len(systems) != 1:
        raise NoDevice("PCI devices are confined to the memory of one Linux VM", ["mortise"])
    return systems[0]
