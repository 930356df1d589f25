"""Slowdown of a victim by neighbours, with and without bandwidth regulation.

In `bench-regulate` a VM sweeps its working set while the background of another core sweeps more
memory than the modelled cache holds (`tools.bench.cache`). The emulator has no memory latency, so
the cost of a miss is an assumption. The same is measured with two such cores, and, as in vLibOS's
Figure 6, with a core that runs the same code in its foreground for a part of its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tenonos import build, system
from tenonos.run.plugin import Passage
from tenonos.system import System, Vm
from tools.bench.cache import VICTIM, sweeps
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

SYSTEM = "bench-regulate"
DYNAMIC = "mortise-dynamic"

MISS = 100
"""Assumed cost of a cache miss in instructions."""


FOREGROUND, PERIOD = (10, 30, 60), 9_000_000
"""Reservations of the neighbour in percent, and its period in ns: the paper's, a tenth as long."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the victim."""
    regulated = system.load(SYSTEM)
    setting = Setting(SYSTEM, DYNAMIC)
    tell(f"{SYSTEM}, alone")
    victim = replace(regulated, mode="static", vms=(regulated.vm(VICTIM),), regulation=None)
    usual = taken(sweeps(build.build(victim), VICTIM))
    slower: dict[bool, float] = {}
    # Cases that differ only in budgets have the same images; in sequence they are linked once.
    for throttle in (False, True):
        for params, shared in _cases(regulated):
            tell(f"{SYSTEM}, {'with' if throttle else 'without'} regulation")
            kept = shared.regulation if throttle else None
            found = sweeps(build.build(replace(shared, regulation=kept)), VICTIM)
            more = round(100 * (taken(found) - usual) / usual, 1)
            row = setting.row(
                ("vlib", "victim_slowdown"), {"throttle": throttle, **params}, [more], Kinds()
            )
            # A sweep misses all or nothing: only the sum of all is meaningful.
            yield replace(row, unit="percent", samples=len(found))
            if not params:
                slower[throttle] = more
    left = round(100 * slower[True] / slower[False], 1)
    yield replace(setting.row(("vlib", "slowdown_left"), {}, [left], Kinds()), unit="percent")


def _cases(regulated: System) -> Iterator[tuple[dict[str, int], System]]:
    """The cases of neighbours with their parameters, the system's own first."""
    yield {}, regulated
    for part in FOREGROUND:
        promised = [_promised(vm, part * PERIOD // 100) for vm in regulated.vms]
        yield {"foreground": part}, replace(regulated, vms=tuple(promised))
    # The same two again, on another core.
    cpu = max(cpu for vm in regulated.vms for cpu in vm.cpus) + 1
    others = [vm for vm in regulated.vms if vm.name != VICTIM]
    more = [replace(vm, name=f"{vm.name}-{cpu}", cpus=(cpu,)) for vm in others]
    yield {"cores": 2}, replace(regulated, vms=(*regulated.vms, *more))


def _promised(vm: Vm, budget: int) -> Vm:
    """A VM with another budget."""
    if vm.share.budget is None:
        return vm
    return replace(vm, share=replace(vm.share, budget=budget, period=PERIOD))


def taken(found: Sequence[Passage]) -> int:
    """The time of all sweeps in the model."""
    return sum(sweep.instructions + MISS * sweep.misses for sweep in found)
