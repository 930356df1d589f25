"""Caches: what a neighbour displaces of a working set, in a model of a cache that cores share.

The emulator has no caches. The counting plugin models one of last level (`cache.rs`): every access
of every core by its physical address, and nothing between core and cache. It says how many lines of
the victim are missing at each of its sweeps, not how long that takes. The emulator executes one
core at a time, until the next deadline: what a neighbour displaces, it displaces between two sweeps
and not within one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.bench.machine import Place
from tenonos.bench.machine import run as start
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run.plugin import Passage

SYSTEM, VICTIM = "bench-cache", "victim"
STATIC = "mortise-static"

SIZE, WAYS, LINE = 1 << 20, 16, 64
"""The model's geometry: a second level that a Cortex-A53 may have."""
PLAN = f"cache {SIZE:x} {WAYS:x} {LINE:x}"

WARM = 2
"""Sweeps that do not count: the first one finds nothing, whoever is beside it."""
SWEEPS = 48
"""Those that count."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    shared = system.load(SYSTEM)
    victim = shared.vm(VICTIM)
    for case, vms in {"alone": (victim,), "shared": shared.vms}.items():
        tell(f"{SYSTEM}, {case}")
        built = build.build(replace(shared, vms=vms))
        misses = [sweep.misses for sweep in sweeps(built, VICTIM)]
        row = Setting(SYSTEM, STATIC).row(
            ("cache", "victim_misses"), {"case": case}, misses, Kinds()
        )
        yield replace(row, unit="misses")


def sweeps(built: Built, name: str) -> list[Passage]:
    """The sweeps of a VM that count, with what was missing at each."""
    (cpu,) = built.system.vm(name).cpus
    trace = start(Place(built, name, bare=False, more=(PLAN,)), "end of sweeps")
    own = [passage for passage in trace.passages if passage.vcpu == cpu][WARM:]
    if len(own) < SWEEPS:
        raise WorkError(f"of {SWEEPS} sweeps {len(own)} were seen")
    return own[:SWEEPS]
