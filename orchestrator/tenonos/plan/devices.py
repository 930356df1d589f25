"""Which devices of the board each VM is given: what the libraries of its image drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenonos.plan.models import Guest, Image
from tenonos.plan.pool import Pool
from tenonos.system.board import Board


class NoDevice(Exception):
    """A VM's driver has no device to drive: its `args` say why, then `images` whose words it is."""

    def __init__(self, why: str, images: Sequence[str]) -> None:
        super().__init__(why)
        self.images = tuple(images)


def given(
    pool: Pool, board: Board, guests: Sequence[Guest], images: Mapping[str, Image]
) -> dict[str, list[str]]:
    """The names of the devices of each VM of Tenon's, one for each kind that a library drives."""
    owner: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    crates = pool.index.by_id
    for guest in guests:
        libraries = images[guest.name].libraries if guest.kind == "tenon" else ()
        kinds = [k for name in libraries if name in crates for k in crates[name].drives]
        if kinds and guest.made_by:
            raise NoDevice("a VM that is made on demand has no devices", [guest.name])
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
    return found
