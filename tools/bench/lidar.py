"""LIDAR-like task beside a neural network in Linux: vLibOS's case study, in the cache model.

In `bench-lidar` a task sweeps its working set each millisecond, and on another core a network in
Linux sweeps more than the modelled cache holds (`tools.bench.cache`). Linux shares that core with
its caller: without a call it uses the whole background, in a call the caller's time. Regulation
throttles its background in both cases, and that of a Linux with a reservation, as in the paper's
Figure 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import Passage, Record
from tenonos.system.device_trees import CMDLINE
from tools.bench.cache import WARM, cache_of, every
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row
from tools.bench.slowdown import DYNAMIC, FOREGROUND, MISS, PERIOD, taken

SYSTEM, TASK, LINUX = "bench-lidar", "lidar", "linux"

SETTING = Setting(SYSTEM, DYNAMIC)

SWEEPS = 200
"""Counted releases of the task, once the network runs."""

PATIENCE = 900.0
"""Time limit of the model in host seconds, boot of Linux included."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """Execution times of the task alone, and with the network in each form."""
    beside = system.load(SYSTEM)
    tell(f"{SYSTEM}, alone")
    alone = every(build.build(_alone(beside)), TASK)[WARM:]
    yield _row({"network": "none"}, alone)
    for network in ("background", "called"):
        for throttle in (False, True):
            tell(f"{SYSTEM}, {network}, {'with' if throttle else 'without'} regulation")
            found = _sweeps(_beside(beside, network, throttle=throttle))
            yield _row({"network": network, "throttle": throttle}, found)
    usual = taken(alone) / len(alone)
    for part in FOREGROUND:
        for throttle in (False, True):
            tell(f"{SYSTEM}, {part} %, {'with' if throttle else 'without'} regulation")
            found = _sweeps(_beside(beside, "background", part, throttle=throttle))
            more = round(100 * (taken(found) / len(found) - usual) / usual, 1)
            params = {"throttle": throttle, "neighbour": LINUX, "foreground": part}
            row = SETTING.row(("vlib", "victim_slowdown"), params, [more], Kinds())
            yield replace(row, unit="percent", samples=len(found))


def _beside(beside: system.System, network: str, promised: int = 0, *, throttle: bool) -> Built:
    """The system with the network in this form, and with that reservation for Linux."""
    linux = beside.vm(LINUX)
    share = linux.share
    if promised:
        budget = promised * PERIOD // 100
        share = replace(share, priority=10, budget=budget, period=PERIOD, background=True)
    cmdline = f"{linux.cmdline or CMDLINE} network={network}"
    linux = replace(linux, cmdline=cmdline, share=share)
    vms = tuple(linux if vm.name == LINUX else vm for vm in beside.vms)
    kept = beside.regulation if throttle else None
    return build.build(replace(beside, vms=vms, regulation=kept))


def _alone(beside: system.System) -> system.System:
    task = replace(beside.vm(TASK), index=0)
    return replace(beside, mode="static", vms=(task,), vlibs=(), regulation=None)


def _row(params: dict[str, object], sweeps: list[Passage]) -> Row:
    """The row of the sweeps' times in the model."""
    each = [sweep.instructions + MISS * sweep.misses for sweep in sweeps]
    row = SETTING.row(("vlib", "lidar"), params, each, Kinds())
    # A sweep misses all or nothing: its frequency says more than a median.
    return replace(row, histogram=dict(sorted(Counter(each).items())))


def _sweeps(built: Built) -> list[Passage]:
    """The sweeps of the task from the start of the network."""
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
