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
from tenonos.system.board import Board, Cache

SYSTEM, VICTIM = "bench-cache", "victim"
STATIC = "mortise-static"

WARM = 2
"""Sweeps by which the cache is warm: the first one finds nothing, whoever is beside it."""
SWEEPS = 48
"""Those that count."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite: what all sweeps miss, the first included, which finds nothing."""
    shared = system.load(SYSTEM)
    victim = shared.vm(VICTIM)
    half = tuple(replace(vm, colours=cache_of(shared.board).colours // 2) for vm in shared.vms)
    for case, vms in {"alone": (victim,), "shared": shared.vms, "coloured": half}.items():
        tell(f"{SYSTEM}, {case}")
        found = every(build.build(replace(shared, vms=vms)), VICTIM)
        misses = sum(sweep.misses for sweep in found)
        row = Setting(SYSTEM, STATIC).row(
            ("cache", "victim_misses"), {"case": case}, [misses], Kinds()
        )
        yield replace(row, unit="misses", samples=len(found))


def sweeps(built: Built, name: str) -> list[Passage]:
    """The sweeps of a VM that count once the cache is warm, with what was missing at each."""
    return every(built, name)[WARM:]


def every(built: Built, name: str) -> list[Passage]:
    """All sweeps of a VM, with what was missing at each."""
    cache = cache_of(built.system.board)
    (cpu,) = built.system.vm(name).cpus
    plan = f"cache {cache.size:x} {cache.ways:x} {cache.line:x}"
    trace = start(Place(built, name, bare=False, more=(plan,)), "end of sweeps")
    own = [passage for passage in trace.passages if passage.vcpu == cpu]
    if len(own) < WARM + SWEEPS:
        raise WorkError(f"of {WARM + SWEEPS} sweeps {len(own)} were seen")
    return own[: WARM + SWEEPS]


def cache_of(board: Board) -> Cache:
    """What is modelled: the cache that the board says it has."""
    if board.cache is None:
        raise WorkError(f"{board.name} states no cache to model")
    return board.cache
