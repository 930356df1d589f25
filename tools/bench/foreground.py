"""Effect of regulation on reserved budgets: instructions of a foreground VM per period.

`bench-regulate` without its victim, so that only one core executes and the emulator's clock counts
its instructions: the VM with a budget waits once that is depleted, and the background VM gets the
rest, as far as regulation allows. The first VM executes on its budget only. Mortise's visits
delimit its runs, with the instructions in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import FIRST, NOBODY, Record, Visit
from tools.bench.reading import Setting
from tools.bench.row import Kinds
from tools.bench.row import Row as Figure
from tools.bench.slowdown import DYNAMIC, SYSTEM, VICTIM

PROMISED = "neighbour"
WARM = 30
"""Periods before the first that counts, in which both VMs start."""
PERIODS = 200


def rows(tell: Callable[[str], None]) -> Iterator[Figure]:
    """Instructions per period with and without regulation, and the loss of the least one."""
    regulated = system.load(SYSTEM)
    setting = Setting(SYSTEM, DYNAMIC)
    least: dict[bool, int] = {}
    for throttle in (False, True):
        tell(f"{SYSTEM}, the foreground {'with' if throttle else 'without'} regulation")
        executed = periods(build.build(_without_victim(regulated, throttle=throttle)))
        params = {"throttle": throttle}
        yield setting.row(("vlib", "foreground"), params, executed, Kinds())
        least[throttle] = min(executed)
    lost = round(100 * max(0, least[False] - least[True]) / least[False], 1)
    yield replace(setting.row(("vlib", "foreground_lost"), {}, [lost], Kinds()), unit="percent")


def _without_victim(regulated: system.System, *, throttle: bool) -> system.System:
    """The system without the victim; the VM with a budget waits once it is depleted."""
    promised = regulated.vm(PROMISED)
    waits = replace(promised, share=replace(promised.share, background=False))
    others = (waits if vm is promised else vm for vm in regulated.vms if vm.name != VICTIM)
    vms = tuple(replace(vm, index=index) for index, vm in enumerate(others))
    kept = regulated.regulation if throttle else None
    return replace(regulated, vms=vms, regulation=kept)


def periods(built: Built) -> list[int]:
    """Instructions of the VM with a reservation in each period."""
    target = Target.of(built)
    memory = next(vm for vm in target.vms if vm.name == PROMISED).memory
    visits: list[Visit] = []

    def take(record: Record) -> None:
        if isinstance(record, Visit):
            visits.append(record)
            if len(visits) % 1_000 == 0 and len(turns(visits)) >= WARM + PERIODS:
                session.finish()

    plan = ("visits", f"guest {memory.start:x} {memory.stop:x}")
    options = RunOptions(seconds=60, deterministic=True, plan=plan, count=take)
    session = Session(target, options, [])
    session.run()
    found = turns(visits)
    if len(found) < WARM + PERIODS:
        raise WorkError(f"of {WARM + PERIODS} periods {len(found)} were seen")
    return found[WARM : WARM + PERIODS]


def turns(visits: Iterable[Visit]) -> list[int]:
    """Instructions of the first watched VM in each of its runs on a core; the last run may be
    incomplete."""
    ended: list[int] = []
    executed = 0
    for visit in visits:
        if visit.before == FIRST:
            executed += visit.between
        if visit.before not in (FIRST, NOBODY) and executed:
            ended.append(executed)
            executed = 0
    return ended
