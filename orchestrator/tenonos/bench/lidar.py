"""A LIDAR-like task beside a neural network in Linux: vLibOS's case study, in the cache's model.

In `systems/bench-lidar` a task goes through its working set each millisecond, and on another core a
network in Linux through more than the modelled cache holds (`tenonos.bench.cache`). Linux shares
that core with who calls it: without a call it has all of the background, called it has what the
caller gives it. With regulation its background is held back in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.bench.cache import cache_of, every
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row
from tenonos.bench.slowdown import DYNAMIC, MISS
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import Passage, Record
from tenonos.system.trees import CMDLINE

SYSTEM, TASK, LINUX = "bench-lidar", "lidar", "linux"

SWEEPS = 200
"""Releases of the task that count, once the network has begun."""

PATIENCE = 900.0
"""Host seconds that the model may take: Linux boots in it."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The task's execution times alone, and beside the network in each form."""
    beside = system.load(SYSTEM)
    tell(f"{SYSTEM}, alone")
    alone = replace(beside.vm(TASK), index=0)
    usual = every(build.build(replace(beside, mode="static", vms=(alone,), vlibs=(), regulation=None)), TASK)
    yield _row({"network": "none"}, usual[2:])
    for network in ("background", "called"):
        for throttle in (False, True):
            tell(f"{SYSTEM}, {network}, {'with' if throttle else 'without'} regulation")
            linux = beside.vm(LINUX)
            linux = replace(linux, cmdline=f"{linux.cmdline or CMDLINE} network={network}")
            vms = tuple(linux if vm.name == LINUX else vm for vm in beside.vms)
            kept = beside.regulation if throttle else None
            found = _sweeps(build.build(replace(beside, vms=vms, regulation=kept)))
            yield _row({"network": network, "throttle": throttle}, found)


def _row(params: dict[str, object], sweeps: list[Passage]) -> Row:
    """What each sweep takes in the model."""
    taken = [sweep.instructions + MISS * sweep.misses for sweep in sweeps]
    return Setting(SYSTEM, DYNAMIC).row(("vlib", "lidar"), params, taken, Kinds())


def _sweeps(built: Built) -> list[Passage]:
    """The task's sweeps from when the network has begun."""
    target, cache = Target.of(built), cache_of(built.system.board)
    cpus = {vm.name: vm.cpus[0] for vm in built.system.vms}
    sweeps: list[Passage] = []
    begun = False

    def take(record: Record) -> None:
        nonlocal begun
        if not isinstance(record, Passage):
            return
        begun = begun or record.vcpu == cpus[LINUX]
        if begun and record.vcpu == cpus[TASK]:
            sweeps.append(record)
            if len(sweeps) == SWEEPS:
                session.finish()

    plan = ("marks", f"cache {cache.size:x} {cache.ways:x} {cache.line:x}")
    options = RunOptions(seconds=PATIENCE, deterministic=True, plan=plan, count=take)
    session = Session(target, options, [])
    session.run()
    if len(sweeps) < SWEEPS:
        raise WorkError(f"of {SWEEPS} sweeps beside the network {len(sweeps)} were seen")
    return sweeps[:SWEEPS]
