"""Suite `detach`: noise of detached programs on a core lent by Linux.

In `detach` Linux's init runs programs by `tenon-detach`, with Linux idle, copying data or running
many short processes on each other CPU. `fwq` marks start and end of a quantum of work,
`control-loop` its wait for the next period; the plugin counts all instructions of the core in
between. The latency of a signal is measured by the emulator's clock with Linux idle, as sender,
owner and core work in sequence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tenonos import system
from tenonos.errors import WorkError
from tenonos.run.plugin import Passage
from tools.bench import borrowed_core
from tools.bench.borrowed_core import LINUX, SETTING, SYSTEM
from tools.bench.loads import LOADS, beside
from tools.bench.row import Kinds, Row, most_common

FWQ, LOOP, SIGNALS = "fwq", "control-loop", "signal-time"
"""The programs, in `linux/`."""

SAMPLES, FULL = {FWQ: 400, LOOP: 200, SIGNALS: 400}, 10_000
"""Quanta, releases and signals of a load in the short form and in the full one."""

KILLS = 40
"""Each of these needs a program, and a CPU handover."""

ATTACHED = 100
"""Rows of the same programs as ordinary processes, on a CPU of Linux."""

PATIENCE = 1800.0
"""Time limit in host seconds, boot of Linux included."""

_TOLD = re.compile(r"^\d+ (?:quanta|releases|signals)\b.*$", re.MULTILINE)
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Run:
    """One run of a program under a load; `attached`: as an ordinary process."""

    program: str
    samples: int
    load: str = "idle"
    attached: bool = False
    signal: str = "handled"
    """The signal that it sends: one with a handler, or `stop`, or `kill`."""

    def script(self, cpu: int, others: Sequence[int]) -> str:
        """Lines of Linux's init that run it on `cpu`, with the load on `others`."""
        where = f"taskset {1 << cpu:x}" if self.attached else f"tenon-detach --cpu {cpu}"
        line = f"{where} {self.program} {self.samples}"
        if self.program == SIGNALS:  # It detaches a child itself.
            line = f"{self.program} {self.samples} {self.signal}"
        return beside(self.load, others, line)

    @property
    def name(self) -> str:
        """The name of its row."""
        names = {FWQ: ("fwq_noise", "fwq_attached"), LOOP: ("loop_jitter", "loop_attached")}
        return names[self.program][self.attached]

    @property
    def marked(self) -> int:
        """The number of paths that it marks."""
        return 0 if self.program == SIGNALS else self.samples


def runs(full: bool) -> list[Run]:
    """The runs in order: first with all CPUs in Linux, then detached."""
    samples = dict.fromkeys(SAMPLES, FULL) if full else SAMPLES
    marking = [(program, load) for program in (FWQ, LOOP) for load in LOADS]
    return [
        *(Run(program, ATTACHED, load, attached=True) for program, load in marking),
        *(Run(program, samples[program], load) for program, load in marking),
        Run(SIGNALS, samples[SIGNALS]),
        Run(SIGNALS, samples[SIGNALS], signal="stop"),
        Run(SIGNALS, KILLS, signal="kill"),
    ]


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    tell(SYSTEM)
    return measured(runs(full))


def measured(wanted: Sequence[Run]) -> Iterator[Row]:
    """The rows of these runs, all in one boot of Linux."""
    linux = system.load(SYSTEM).vm(LINUX)
    cpu = linux.detach[-1]
    others = [other for other in range(len(linux.cpus)) if other != cpu]
    begun = borrowed_core.built((run.script(cpu, others) for run in wanted), SAMPLES)
    said, passages = borrowed_core.watched(begun, cpu, PATIENCE)
    told = [[int(number) for number in _NUMBER.findall(line)] for line in _TOLD.findall(said)]
    if len(told) != len(wanted) or len(passages) != sum(run.marked for run in wanted):
        raise WorkError("the programs did not complete", mend="see ./tenon run detach")
    loops: dict[Run, list[Passage]] = {}
    for run, numbers in zip(wanted, told, strict=True):
        judge(run, numbers)
        marked, passages = passages[: run.marked], passages[run.marked :]
        if run.program == SIGNALS:
            yield signals(numbers, run.signal)
        elif run.program == FWQ:
            yield _row(run, marked, least=numbers[1] + 1)
        else:
            loops[run] = marked
    for run, marked in loops.items():
        alike = (passages for other, passages in loops.items() if other.attached == run.attached)
        yield _row(run, marked, least=min(_total(passage) for every in alike for passage in every))


def judge(run: Run, told: Sequence[int]) -> None:
    """Check the program's own results."""
    early, missed = told[1:3] if run.program == LOOP else (0, 0)
    # With other cores busy the emulator's clock does not measure lateness.
    late = missed and run.load == "idle" and not run.attached
    if told[0] != run.samples or early or late:
        raise WorkError(
            f"{run.program} under load {run.load}: {told[0]} of {run.samples}, {early} early,"
            f" {missed} missed"
        )


def signals(told: Sequence[int], signal: str) -> Row:
    """The row of signals, as measured by the program."""
    samples, least, median, p99, most = told
    row = SETTING.row(("detach", "signal_bound"), {"signal": signal}, [median], Kinds())
    return replace(row, samples=samples, min=least, p99=p99, max=most)


def _row(run: Run, passages: Sequence[Passage], least: int) -> Row:
    """The excess of each passage over the least: for a quantum the program's own work, for a loop
    the shortest path through a wait, under any load."""
    values = [_total(passage) - least for passage in passages]
    kinds = most_common([Kinds(p.barriers, p.sysreg_writes, p.mmio) for p in passages])
    return SETTING.row(("detach", run.name), {"load": run.load}, values, kinds)


def _total(passage: Passage) -> int:
    return passage.el2 + passage.other
