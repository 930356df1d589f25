"""Hyplets: how soon a function on a core that Linux gave up goes on when its time has come.

In `bench-hyplet` Linux's init runs `hyplet-timer`, with Linux idle or with a load on each
other CPU. What Mortise executes on the lent core between the end of a wait and the function's next
instruction is counted there, whatever the other cores do. The function itself sees whether it was
early, and how late; with Linux idle, when few others move the emulator's clock, that must agree.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tenonos import build, system
from tenonos.bench import handover, overlay
from tenonos.bench.loads import LOADS, beside
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row, most_common
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import IDLE, OTHER, Passage, Record, Visit

SYSTEM, LINUX = "bench-hyplet", "linux"
ENVIRONMENT = "mortise-static+linux"
SETTING = Setting(SYSTEM, ENVIRONMENT)

RATES = (1, 2, 10, 20)
"""kHz."""

RELEASES, FULL = 2_000, 200_000
"""Of a run; in the full form those at the highest rate."""

PATIENCE = 3600.0
"""Host seconds that all of it may take: Linux is ready behind it."""

CLOCK = 200
"""What the emulator's clock may say that 99 of 100 releases are later than the first, ns."""

STEP = 20_000
"""Releases after which a long run says how far it is."""

_TOLD = re.compile(
    r"(\d+) releases, (\d+) early, (\d+) missed; "
    r"late by (\d+) ns at least, (\d+) for 99 of 100, (\d+) at most"
)


@dataclass(frozen=True)
class Run:
    """The timer once, in a Linux with a load."""

    load: str
    khz: int
    releases: int = RELEASES

    def script(self, others: Sequence[int]) -> str:
        """It as lines of Linux's init, beside those CPUs."""
        timer = f"hyplet-timer --khz {self.khz} --releases {self.releases}"
        return beside(self.load, others, timer)


def runs(full: bool) -> Iterator[Run]:
    """What is measured, in this order: all rates beside all loads, or of both what differs."""
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
        raise WorkError("the timer did not come to its end", mend="see ./tenon run hyplet")
    if handover.OVER not in said:
        raise WorkError("a CPU did not change hands", mend="see ./tenon run hyplet")
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
    """What the ways out of a run's waits are: how they differ from the shortest, and how long."""
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
    """What is counted, and how far it is."""

    wanted: list[Run]
    tell: Callable[[str], None]
    cpu: int = -1
    """The core that is lent."""
    changes: list[Passage] = field(default_factory=list)
    _ends: dict[int, list[Visit]] = field(default_factory=lambda: defaultdict(list))

    @property
    def ways(self) -> list[Visit]:
        """Mortise's way out of each wait of the function."""
        # The core waits elsewhere too: before Linux has it, and before it is lent.
        return max(self._ends.values(), key=len, default=[])

    def take(self, record: Record) -> None:
        """A record came."""
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
    """What Linux said while that was counted."""
    shared = system.load(SYSTEM)
    linux = shared.vm(LINUX)
    watch.cpu = linux.detach[-1]
    others = [cpu for cpu in linux.cpus if cpu != watch.cpu]
    # The changes come first: what a load leaves behind would have a part in them.
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
    """Whether each release was and was right, as the function itself saw it."""
    if done != run.releases or early:
        raise WorkError(f"of {run.releases} releases {done} were, {early} early")
    # Beside busy cores the emulator's clock says nothing of lateness.
    if run.load == "idle" and (missed or usual - least > CLOCK):
        raise WorkError(f"{missed} releases were missed; 99 of 100 late by {usual} ns, one {most}")
