"""Suite `cache`: eviction of a working set by a neighbour, in a model of a shared cache.

The emulator has no caches. The counting plugin models a last-level cache (`cache.rs`): every access
of every core by physical address, without inner caches. It counts the misses of the victim in each
sweep, not their latency. The emulator executes one core at a time, until the next deadline, so a
neighbour evicts lines between two sweeps and not within one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run.plugin import Passage
from tenonos.system.board import Board, Cache
from tools.bench.machine import Place
from tools.bench.machine import run as start
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

SYSTEM, VICTIM = "bench-cache", "victim"
STATIC = "mortise-static"

WARM = 2
"""Sweeps that warm the cache: the first one misses everything."""
SWEEPS = 48
"""Sweeps that are counted."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite: misses of all sweeps, including the first, which misses everything."""
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
    """The counted sweeps of a VM with a warm cache, with the misses of each."""
    return every(built, name)[WARM:]


def every(built: Built, name: str) -> list[Passage]:
    """All sweeps of a VM, with the misses of each."""
    cache = cache_of(built.system.board)
    (cpu,) = built.system.vm(name).cpus
    plan = f"cache {cache.size:x} {cache.ways:x} {cache.line:x}"
    trace = start(Place(built, name, bare=False, more=(plan,)), "end of sweeps")
    own = [passage for passage in trace.passages if passage.vcpu == cpu]
    if len(own) < WARM + SWEEPS:
        raise WorkError(f"of {WARM + SWEEPS} sweeps {len(own)} were seen")
    return own[: WARM + SWEEPS]


def cache_of(board: Board) -> Cache:
    """The modelled cache: that of the board."""
    if board.cache is None:
        raise WorkError(f"{board.name} declares no cache to model")
    return board.cache
