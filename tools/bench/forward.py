"""Cost of system calls of detached programs, which Linux serves.

In `detach` Linux's init runs `forwarded`, first as an ordinary process, then by `tenon-detach`,
with Linux idle. The program marks each getppid; the plugin counts the instructions of all cores
from there to its next instruction. The cost of the same call on a CPU of Linux is subtracted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low

from tenonos import system
from tenonos.errors import WorkError
from tenonos.run.plugin import Passage
from tools.bench import borrowed_core
from tools.bench.borrowed_core import LINUX, SETTING, SYSTEM
from tools.bench.row import Kinds, Row

PROGRAM = "forwarded"
CALLS = 1000

PATIENCE = 600.0
"""Time limit in host seconds, boot of Linux included."""

_TOLD = re.compile(rf"^{CALLS} calls\r?$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One run of the program, with a pause in ms before each call."""

    owner: str | None
    """Mode of the serving thread in Linux; none: an ordinary process."""
    pause: int = 0

    def script(self, cpu: int) -> str:
        """The line of Linux's init that runs it on `cpu`."""
        own = f"tenon-detach --cpu {cpu}" if self.owner else f"taskset {1 << cpu:x}"
        return f"{own} {PROGRAM} {CALLS} {self.pause}\n"


RUNS = (Run(None), Run("polling"), Run("sleeping", pause=1))


@dataclass(frozen=True)
class Path:
    """Instructions of a call on the program's core, and on all others."""

    core: int
    others: int

    @classmethod
    def of(cls, passage: Passage) -> Path:
        """The path of a passage."""
        core = passage.el2 + passage.other
        return cls(core, passage.el2_everywhere + passage.other_everywhere - core)

    @property
    def whole(self) -> int:
        """Instructions on all cores."""
        return self.core + self.others


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of forwarded calls."""
    tell(f"{SYSTEM}, {PROGRAM}")
    cpu = system.load(SYSTEM).vm(LINUX).detach[-1]
    begun = borrowed_core.built((run.script(cpu) for run in RUNS), [PROGRAM])
    said, passages = borrowed_core.watched(begun, cpu, PATIENCE)
    if len(_TOLD.findall(said)) != len(RUNS) or len(passages) != CALLS * len(RUNS):
        raise WorkError("the program did not complete", mend="see ./tenon run detach")
    return told([Path.of(passage) for passage in passages])


def told(paths: Sequence[Path]) -> Iterator[Row]:
    """The rows of all calls, in the order of `RUNS`."""
    native = median_low(path.whole for path in paths[:CALLS])
    for index, run in enumerate(RUNS):
        own = paths[index * CALLS : (index + 1) * CALLS]
        if run.owner is None:
            continue
        params = {"owner": run.owner}
        beyond = [path.whole - native for path in own]
        yield SETTING.row(("detach", "syscall_forward"), params, beyond, Kinds())
        for end, part in (("core", [p.core for p in own]), ("linux", [p.others for p in own])):
            yield SETTING.row(("detach", "syscall_end"), params | {"end": end}, part, Kinds())
