"""Page colours for every VM, if an objective asks for a partitioned cache.

The cache is divided evenly as long as memory allows: a VM spans its memory times all colours by its
own, so a large VM with few colours may not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tenonos.plan.models import Guest, Item, manages
from tenonos.system.board import Board

COLOURING = "virt.cache-colouring"

_BESIDE = 8 << 20
"""Additional coloured memory of a VM: its log and its task's samples."""


class Uncolourable(Exception):
    """Colours cannot be assigned to every VM; the message is the reason in one clause."""


def share_out(
    guests: Sequence[Guest],
    items: Iterable[Item],
    memory: Mapping[str, int],
    room: int,
    board: Board,
) -> dict[str, int]:
    """The number of colours of each VM, such that memory fits; none unless demanded."""
    known = list(items)
    asked = any((i.kind, i.value) == ("capability", COLOURING) for i in known)
    if not asked or not guests:
        return {}
    if board.cache is None:
        raise Uncolourable(f"{board.name} declares no cache with colours")
    if manages(known):
        raise Uncolourable("a VM that manages others shares its memory and can have no colours")
    every = board.cache.colours
    linuxes = [guest.name for guest in guests if guest.kind == "linux"]
    tenons = [guest.name for guest in guests if guest.kind == "tenon"]
    for each in range(every // len(guests), 0, -1):
        own = dict.fromkeys(tenons, each) | _evenly(linuxes, every - each * len(tenons))
        reach = max((memory[name] + _BESIDE) * every // max(1, own[name]) for name in own)
        if min(own.values()) > 0 and reach <= room:
            return own
    total = sum(memory.values()) >> 20
    raise Uncolourable(f"{total} MiB for VMs do not fit in parts of {every} colours")


def _evenly(names: Sequence[str], count: int) -> dict[str, int]:
    """`count` colours divided evenly, with the remainder for the first ones."""
    return {
        name: count // len(names) + (place < count % len(names)) for place, name in enumerate(names)
    }
