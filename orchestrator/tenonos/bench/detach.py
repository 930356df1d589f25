"""Detached programs: what comes between their instructions, on a core that Linux lends.

In `systems/detach` Linux's init runs `fwq` by `tenon-detach`, with Linux idle, moving data or in
many short processes on each other CPU. The program marks where a quantum of work begins and ends;
the plugin counts what its core executes in between, whoever's instructions they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tenonos import build, system
from tenonos.bench import overlay
from tenonos.bench.loads import LOADS, beside
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.linux import tools
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import Passage, Record

SYSTEM, LINUX = "detach", "linux"
ENVIRONMENT = "mortise-static+linux"
SETTING = Setting(SYSTEM, ENVIRONMENT)

QUANTA, FULL = 400, 10_000
"""Quanta of a load in the short form and in the full one."""

ATTACHED = 200
"""Quanta of the same program as any of Linux's, on a CPU that Linux has kept."""

PATIENCE = 1800.0
"""Host seconds that all of it may take: Linux is ready behind it."""

_TOLD = re.compile(r"(\d+) quanta of (\d+) instructions")


@dataclass(frozen=True)
class Run:
    """The program once, in a Linux with a load; `attached`, it is there like any other."""

    load: str
    quanta: int
    attached: bool = False

    def script(self, cpu: int, others: Sequence[int]) -> str:
        """It as lines of Linux's init, on this CPU beside those."""
        own = f"taskset {1 << cpu:x}" if self.attached else f"tenon-detach --cpu {cpu}"
        return beside(self.load, others, f"{own} fwq {self.quanta}")

    @property
    def name(self) -> str:
        """The name of its row."""
        return "fwq_attached" if self.attached else "fwq_noise"


def runs(full: bool) -> list[Run]:
    """What is measured, in this order."""
    detached = [Run(load, FULL if full else QUANTA) for load in LOADS]
    return [*detached, *(Run(load, ATTACHED, attached=True) for load in LOADS)]


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    tell(SYSTEM)
    return measured(runs(full))


def measured(wanted: Sequence[Run]) -> Iterator[Row]:
    """The row of each run, all of them in one life of Linux's."""
    shared = system.load(SYSTEM)
    lent = shared.vm(LINUX).detach[-1]
    said, passages = _watched(_built(wanted), lent)
    told = [*_TOLD.finditer(said)]
    if len(told) != len(wanted) or len(passages) != sum(run.quanta for run in wanted):
        raise WorkError("the program did not come to its end", mend="see ./tenon run detach")
    for run, found in zip(wanted, told, strict=True):
        own, passages = passages[: run.quanta], passages[run.quanta :]
        values = [foreign(passage, int(found[2])) for passage in own]
        yield SETTING.row(("detach", run.name), {"load": run.load}, values, Kinds())


def foreign(passage: Passage, own: int) -> int:
    """The instructions of a quantum that are not the program's: the mark is, too."""
    return passage.el2 + passage.other - own - 1


def _built(wanted: Sequence[Run]) -> Built:
    """The system with these runs to begin with."""
    shared = system.load(SYSTEM)
    linux = shared.vm(LINUX)
    lent = linux.detach[-1]
    others = [cpu for cpu in range(len(linux.cpus)) if cpu != lent]
    start = "#!/bin/sh\n" + "".join(run.script(lent, others) for run in wanted)
    files = overlay.folder(
        shared, linux, {"etc/start": start.encode(), "bin/fwq": tools.program("fwq").content}
    )
    vms = tuple(replace(vm, files=str(files)) if vm.name == LINUX else vm for vm in shared.vms)
    return build.build(replace(shared, vms=vms))


def _watched(built: Built, lent: int) -> tuple[str, list[Passage]]:
    """What Linux said, and what was counted between marks on that core."""
    passages: list[Passage] = []

    def take(record: Record) -> None:
        if isinstance(record, Passage) and record.vcpu == lent:
            passages.append(record)

    options = RunOptions(
        seconds=1,
        deterministic=True,
        plan=("marks", "blocks"),
        count=take,
        boot_limit=PATIENCE,
    )
    session = Session(Target.of(built), options, [])
    session.run()
    return session.transcripts[LINUX].text, passages
