"""Hyplets: how soon a function on a core that Linux gave up goes on when its time has come.

In `systems/hyplet` Linux's init runs `hyplet-timer`, with Linux idle or with a loop on each other
CPU. What Mortise executes on the lent core between the end of a wait and the function's next
instruction is counted there, whatever the other cores do. The function itself sees whether it was
early, and how late; with Linux idle, when few others move the emulator's clock, that must agree.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tenonos import build, system
from tenonos.bench import overlay
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row, most_common
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import IDLE, OTHER, Record, Visit

SYSTEM, LINUX = "hyplet", "linux"
ENVIRONMENT = "mortise-static+linux"
SETTING = Setting(SYSTEM, ENVIRONMENT)

RATES = (1, 2, 10, 20)
"""kHz."""

RELEASES, FULL = 2_000, 200_000

LOADS = {
    "idle": "sleep 1",
    "cpu": "while :; do :; done",
    "io": "while :; do tar -c -f - /bin | gzip -c > /dev/null; done",
}
"""What the rest of Linux does meanwhile, on each of its CPUs, as a line of its init."""

PATIENCE = 1800.0
"""Host seconds that all of it may take: Linux is ready behind it."""

CLOCK = 200
"""What the emulator's clock may say that 99 of 100 releases are later than the first, ns."""

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

    @property
    def script(self) -> str:
        """It as lines of Linux's init."""
        return (
            f"for cpu in 0 1 2; do {LOADS[self.load]} & done; loops=$(jobs -p)\n"
            f"hyplet-timer --khz {self.khz} --releases {self.releases}\n"
            "kill -9 $loops; wait\n"
        )


def runs(full: bool) -> Iterator[Run]:
    """What is measured, in this order."""
    for rate in RATES[:-1]:
        yield Run("idle", rate)
    yield Run("idle", RATES[-1], FULL if full else RELEASES)
    for load in LOADS:
        if load != "idle":
            yield Run(load, RATES[-1])


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    tell(SYSTEM)
    wanted = [*runs(full)]
    said, ways = _watched(_built("#!/bin/sh\n" + "".join(run.script for run in wanted)))
    told = [*_TOLD.finditer(said)]
    if len(told) != len(wanted) or len(ways) != sum(run.releases for run in wanted):
        raise WorkError("the timer did not come to its end", mend="see ./tenon run hyplet")
    paths = []
    for run, found in zip(wanted, told, strict=True):
        judge(run, *(int(number) for number in found.groups()))
        own, ways = ways[: run.releases], ways[run.releases :]
        values = [way.instructions for way in own]
        spread = [value - min(values) for value in values]
        params = {"khz": run.khz, "load": run.load}
        yield SETTING.row(("hyplet", "timer_jitter"), params, spread, Kinds())
        if run.khz == RATES[-1]:
            kinds = most_common([Kinds(w.barriers, w.sysreg_writes, w.mmio) for w in own])
            params = {"load": run.load}
            paths.append(SETTING.row(("hyplet", "wait_path"), params, values, kinds))
    yield from paths


def _built(start: str) -> Built:
    """The system with that to begin with."""
    shared = system.load(SYSTEM)
    linux = shared.vm(LINUX)
    files = overlay.folder(shared, linux, {"etc/start": start.encode()})
    vms = tuple(replace(vm, files=str(files)) if vm.name == LINUX else vm for vm in shared.vms)
    return build.build(replace(shared, vms=vms))


def _watched(built: Built) -> tuple[str, list[Visit]]:
    """What Linux said, and Mortise's way out of each wait of the function."""
    cpu = built.system.vm(LINUX).detach[-1]
    ends: dict[int, list[Visit]] = defaultdict(list)

    def take(record: Record) -> None:
        if not isinstance(record, Visit) or record.vcpu != cpu:
            return
        if (record.before, record.after) == (IDLE, OTHER):
            ends[record.entry].append(record)

    options = RunOptions(
        seconds=1, deterministic=True, plan=("visits",), count=take, boot_limit=PATIENCE
    )
    session = Session(Target.of(built), options, [])
    session.run()
    # The core waits elsewhere too: before Linux has it, and before it is lent.
    return session.transcripts[LINUX].text, max(ends.values(), key=len, default=[])


def judge(run: Run, done: int, early: int, missed: int, least: int, usual: int, most: int) -> None:
    """Whether each release was and was right, as the function itself saw it."""
    if done != run.releases or early:
        raise WorkError(f"of {run.releases} releases {done} were, {early} early")
    # Beside busy cores the emulator's clock says nothing of lateness.
    if run.load == "idle" and (missed or usual - least > CLOCK):
        raise WorkError(f"{missed} releases were missed; 99 of 100 late by {usual} ns, one {most}")
