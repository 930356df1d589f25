"""Polled sensors: a distance and a light sensor, simulated by another VM.

In `bench-sensors` a Tenon VM simulates the sensors, with known delays, and Linux's init runs
`hyplet-sensors`, as a hyplet and as an ordinary process. With Linux idle, both report echo length
and light latency by the clock. With other cores busy the emulator's clock is not meaningful: there
the instructions between two polls of a pin are counted, on the polling core.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tenonos import build, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.linux import tools
from tenonos.run.plugin import Passage
from tools.bench import borrowed_core, overlay
from tools.bench.loads import LOADS, beside
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Number, Row, most_common

SYSTEM, LINUX, PROGRAM = "bench-sensors", "linux", "hyplet-sensors"
SETTING = Setting(SYSTEM, "mortise-static+linux")

HYPLET, ATTACHED = "hyplet", "linux"
"""The pollers: a function on a core lent by Linux, or the same in a process of Linux."""

SAMPLES = 40
"""The numbers of echoes, waits for light, and polls of a pin in each run."""

LOOKS = 50_000
"""Polls between two marks."""

DELAYS = {"echo": 1_749_271, "light": 2_122_000}
"""Delays of the sensors in ns, as in `bench/apps/sensors`."""

CLOCK, STRAYS = 1_000, 2
"""Tolerance of the emulator's clock for a hyplet in ns, and the share of larger errors: when Linux
wakes up, the execution of its cores takes clock time as well."""

SOUND = 0.343 / 2
"""Micrometres of distance per ns of echo, at a speed of sound of 34,300 cm/s."""

PATIENCE = 900.0
"""Time limit in host seconds, boot of Linux included."""

_TOLD = re.compile(r"^(echo|light) ([\d ]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One run of the program."""

    by: str
    load: str = "idle"
    looks: bool = False
    """Whether it only polls a pin, between marks."""

    def script(self, cpu: int, others: Sequence[int]) -> str:
        """Lines of Linux's init that run it on `cpu`, with the load on `others`."""
        what = "look" if self.looks else "measure"
        where = f"taskset {1 << cpu:x} {PROGRAM} --attached" if self.by == ATTACHED else PROGRAM
        return beside(self.load, others, f"{where} {what} {cpu} {SAMPLES}")


def runs() -> list[Run]:
    """The runs in order: first with all CPUs in Linux, then on lent ones."""
    looks = [Run(by, load, looks=True) for by in (ATTACHED, HYPLET) for load in LOADS]
    return [Run(ATTACHED), Run(HYPLET), *looks]


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the sensors."""
    tell(SYSTEM)
    shared = system.load(SYSTEM)
    linux = shared.vm(LINUX)
    (lent_cpu,) = linux.detach
    own = linux.cpus.index(lent_cpu)
    others = [cpu for cpu in range(len(linux.cpus)) if cpu != own]
    wanted = runs()
    built = _built(run.script(own, others) for run in wanted)
    said, passages = borrowed_core.watched(built, lent_cpu, PATIENCE)
    looking = [run for run in wanted if run.looks]
    if len(passages) != SAMPLES * len(looking):
        raise WorkError("the polls did not complete", mend=f"see {LINUX}'s console")
    yield from told([run for run in wanted if not run.looks], said)
    yield from looked(looking, passages)


def told(wanted: Sequence[Run], said: str) -> Iterator[Row]:
    """The rows from the program's output, both sensors for each run."""
    found = {"echo": list[int](), "light": list[int]()}
    for match in _TOLD.finditer(said.replace("\r", "")):
        found[match[1]] += map(int, match[2].split())
    if any(len(each) != SAMPLES * len(wanted) or not all(each) for each in found.values()):
        raise WorkError("a sensor was not heard", mend=f"see {LINUX}'s console")
    for number, run in enumerate(wanted):
        mine = slice(number * SAMPLES, (number + 1) * SAMPLES)
        if run.by == HYPLET:
            judge({what: each[mine] for what, each in found.items()})
        params = {"by": run.by}
        distances: list[Number] = [round(SOUND * ns) for ns in found["echo"][mine]]
        row = SETTING.row(("hyplet", "distance"), params, distances, Kinds())
        yield replace(row, unit="um")
        row = SETTING.row(("hyplet", "light"), params, found["light"][mine], Kinds())
        yield replace(row, unit="ns")


def judge(found: Mapping[str, Sequence[int]]) -> None:
    """Check that a hyplet measured the known delays, within the emulator's tolerance."""
    for what, each in found.items():
        wrong = [ns for ns in each if abs(ns - DELAYS[what]) > CLOCK]
        if len(wrong) > STRAYS:
            raise WorkError(
                f"of {len(each)} times of the {what} {len(wrong)} are wrong, as {wrong[0]} ns"
            )


def looked(wanted: Sequence[Run], passages: Sequence[Passage]) -> Iterator[Row]:
    """Instructions between polls of a pin, beyond the least, which is the poll itself."""
    least = min(passage.el2 + passage.other for passage in passages)
    yield SETTING.row(("hyplet", "look"), {}, [round(least / LOOKS)], Kinds())
    for number, run in enumerate(wanted):
        mine = passages[number * SAMPLES :][:SAMPLES]
        values = [passage.el2 + passage.other - least for passage in mine]
        kinds = most_common([Kinds(p.barriers, p.sysreg_writes, p.mmio) for p in mine])
        yield SETTING.row(("hyplet", "look_noise"), {"by": run.by, "load": run.load}, values, kinds)


def _built(lines: Iterator[str]) -> Built:
    """The system with these lines as Linux's start script."""
    shared = system.load(SYSTEM)
    linux = shared.vm(LINUX)
    files = {
        f"bin/{PROGRAM}": tools.program(PROGRAM).content,
        "etc/start": ("#!/bin/sh\n" + "".join(lines)).encode(),
    }
    root = overlay.folder(shared, linux, files)
    vms = tuple(replace(vm, files=str(root)) if vm.name == LINUX else vm for vm in shared.vms)
    return build.build(replace(shared, vms=vms))
