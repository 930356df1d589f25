"""Regulation: how much longer a victim takes beside a neighbour that is held back, or is not.

In `systems/bench-regulate` a VM goes through its working set beside a core whose background goes
through more memory than the modelled cache holds (`tenonos.bench.cache`). As the emulator lets
nothing take longer, what a miss costs is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tenonos import build, system
from tenonos.bench.cache import VICTIM, sweeps
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row
from tenonos.run.plugin import Passage

SYSTEM = "bench-regulate"
DYNAMIC = "mortise-dynamic"

MISS = 100
"""Instructions that a line costs which the cache does not hold: an assumption."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the victim."""
    regulated = system.load(SYSTEM)
    beside = replace(regulated, regulation=None)
    alone = replace(beside, mode="static", vms=(regulated.vm(VICTIM),))
    tell(f"{SYSTEM}, alone")
    usual = taken(sweeps(build.build(alone), VICTIM))
    for throttle, shared in ((False, beside), (True, regulated)):
        tell(f"{SYSTEM}, {'with' if throttle else 'without'} regulation")
        found = sweeps(build.build(shared), VICTIM)
        more = round(100 * (taken(found) - usual) / usual, 1)
        params = {"throttle": throttle}
        row = Setting(SYSTEM, DYNAMIC).row(("vlib", "victim_slowdown"), params, [more], Kinds())
        # A sweep misses all or nothing: only what all of them take says something.
        yield replace(row, unit="percent", samples=len(found))


def taken(found: Sequence[Passage]) -> int:
    """What all these sweeps take in the model."""
    return sum(sweep.instructions + MISS * sweep.misses for sweep in found)
