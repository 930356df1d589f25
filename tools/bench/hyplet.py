"""Suite `hyplet`: wake-up latency of a function on a core lent by Linux.

In `bench-hyplet` Linux's init runs `hyplet-timer`, with Linux idle or with a load on each other
CPU. Instructions of Mortise on the lent core between the end of a wait and the function's next
instruction are counted, independent of the other cores. The function itself measures its lateness;
with Linux idle, when the emulator's clock is accurate, both must agree.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tenonos import build, system
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import IDLE, OTHER, Passage, Record, Visit
from tools.bench import handover, overlay
from tools.bench.loads import LOADS, beside
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row, most_common

SYSTEM, LINUX = "bench-hyplet", "linux"
ENVIRONMENT = "mortise-static+linux"
SETTING = Setting(SYSTEM, ENVIRONMENT)

RATES = (1, 2, 10, 20)
"""kHz."""

RELEASES, FULL = 2_000, 200_000
"""Releases of a run; in the full form those at the highest rate."""

PATIENCE = 3600.0
"""Time limit in host seconds, boot of Linux included."""

CLOCK = 200
"""Tolerance of the emulator's clock for the lateness of 99 % of releases, in ns."""

STEP = 20_000
"""Releases between two progress lines of a long run."""

_TOLD = re.compile(
    r"(\d+) releases, (\d+) early, (\d+) missed; "
    r"late by (\d+) ns at least, (\d+) for 99 of 100, (\d+) at most"
)


@dataclass(frozen=True)
class Run:
    """One run of the timer under a load."""

    load: str
    khz: int
    releases: int = RELEASES

    def script(self, others: Sequence[int]) -> str:
        """Lines of Linux's init that run it, with the load on `others`."""
        timer = f"hyplet-timer --khz {self.khz} --releases {self.releases}"
        return beside(self.load, others, timer)


def runs(full: bool) -> Iterator[Run]:
    """The runs in order: all rates under all loads, or the distinct ones of both."""
    for load in LOADS:
        for rate in RATES:
            if full or load == "idle" or rate == RATES[-1]:
                yield Run(load, rate, FULL if full and rate == RATES[-1] else RELEASES)


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    tell(SYSTEM)
    wanted = [*runs(full)]
    changes = handover.FULL if full else handover.CHANGES
    watch = Watch(wanted, tell)
    said = _watched(wanted, changes, watch)
    told, ways = [*_TOLD.finditer(said)], watch.ways
    if len(told) != len(wanted) or len(ways) != sum(run.releases for run in wanted):
        raise WorkError("the timer did not complete", mend="see ./tenon run hyplet")
    if handover.OVER not in said:
        raise WorkError("a CPU handover failed", mend="see ./tenon run hyplet")
    paths = []
    for run, found in zip(wanted, told, strict=True):
        judge(run, *(int(number) for number in found.groups()))
        own, ways = ways[: run.releases], ways[run.releases :]
        jitter, path = of(run, own)
        yield jitter
        paths += [path] if run.khz == RATES[-1] else []
    yield from paths
    yield from handover.rows(SETTING, changes, watch.changes)


def of(run: Run, ways: list[Visit]) -> tuple[Row, Row]:
    """The rows of the paths out of waits: excess over the shortest, and length."""
    values = [way.instructions for way in ways]
    least = min(values)
    spread = [value - least for value in values]
    kinds = most_common([Kinds(w.barriers, w.sysreg_writes, w.mmio) for w in ways])
    params = {"khz": run.khz, "load": run.load}
    return (
        SETTING.row(("hyplet", "timer_jitter"), params, spread, Kinds()),
        SETTING.row(("hyplet", "wait_path"), {"load": run.load}, values, kinds),
    )


@dataclass
class Watch:
    """The counts and the progress of a run."""

    wanted: list[Run]
    tell: Callable[[str], None]
    cpu: int = -1
    """The lent core."""
    changes: list[Passage] = field(default_factory=list)
    _ends: dict[int, list[Visit]] = field(default_factory=lambda: defaultdict(list))

    @property
    def ways(self) -> list[Visit]:
        """Mortise's path out of each wait of the function."""
        # The core also waits before Linux boots it, and before it is lent.
        return max(self._ends.values(), key=len, default=[])

    def take(self, record: Record) -> None:
        """Take a record."""
        if isinstance(record, Passage):
            self.changes.append(record)
        elif isinstance(record, Visit) and self._is_end(record):
            ways = self._ends[record.entry]
            ways.append(record)
            self._say(len(ways))

    def _is_end(self, visit: Visit) -> bool:
        return (visit.vcpu, visit.before, visit.after) == (self.cpu, IDLE, OTHER)

    def _say(self, done: int) -> None:
        for run in self.wanted:
            if done <= run.releases:
                if done % STEP == 1:
                    so_far = f", {done - 1} of {run.releases}" if done > 1 else ""
                    self.tell(f"{SYSTEM}, {run.khz} kHz beside {run.load}{so_far}")
                return
            done -= run.releases


def _watched(wanted: Sequence[Run], changes: int, watch: Watch) -> str:
    """The console output of Linux during the counting."""
    shared = system.load(SYSTEM)
    linux = shared.vm(LINUX)
    watch.cpu = linux.detach[-1]
    others = [cpu for cpu in linux.cpus if cpu != watch.cpu]
    # Handovers come first: remains of a load would affect them.
    scripts = [handover.script(changes), *(run.script(others) for run in wanted)]
    start = "".join(["#!/bin/sh\n", *scripts]).encode()
    linux = replace(linux, files=str(overlay.folder(shared, linux, {"etc/start": start})))
    options = RunOptions(
        seconds=1,
        deterministic=True,
        plan=("visits", "marks"),
        count=watch.take,
        boot_limit=PATIENCE,
    )
    session = Session(Target.of(build.build(replace(shared, vms=(linux,)))), options, [])
    session.run()
    return session.transcripts[LINUX].text


def judge(run: Run, done: int, early: int, missed: int, least: int, usual: int, most: int) -> None:
    """Check the releases by the function's own results."""
    if done != run.releases or early:
        raise WorkError(f"of {run.releases} releases {done} were, {early} early")
    # With other cores busy the emulator's clock does not measure lateness.
    if run.load == "idle" and (missed or usual - least > CLOCK):
        raise WorkError(f"{missed} releases were missed; 99 of 100 late by {usual} ns, one {most}")
