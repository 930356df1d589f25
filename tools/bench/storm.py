"""Suite `storm`: instructions that less urgent VMs take from the core of an urgent one.

In `bench-storm` a VM at the lowest priority has a vCPU on the victim's core, and one to three
others send it interrupts without a pause, by one path after the other. The victim computes on its
core meanwhile; the instructions of Mortise there are stolen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tenonos import build, paths, system
from tenonos.errors import WorkError
from tenonos.run.plugin import Passage
from tools.bench.machine import Place, Trace
from tools.bench.machine import run as start
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

SYSTEM = "bench-storm"
VICTIM = "victim"
SETTING = Setting(SYSTEM, "mortise-dynamic")

CPUS = "[2, 1]"
"""The cores of the hostile VM in `system.toml`."""

SENDERS = {1: CPUS, 2: "[2, 1, 3]", 3: "[2, 1, 3, 0]"}
"""Its cores, by the number of those that send."""

NONE = "none"
"""The first path: no VM sends. What is counted there are the exits of the marks."""

_MEASURED = re.compile(r"measured (\w+) samples=(\d+)")


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    text = system.find(SYSTEM).read_text()
    for senders, cpus in SENDERS.items():
        tell(f"{SYSTEM}, {senders} senders")
        folder = paths.ensure(paths.BUILD / f"{SYSTEM}-{senders}-system")
        (folder / "system.toml").write_text(text.replace(CPUS, cpus))
        built = build.build(system.load(folder))
        trace = start(Place(built, VICTIM, bare=False, exits=True), "end of storm")
        yield from rows_of(trace, senders, built.system.vm(VICTIM).cpus[0])


def rows_of(trace: Trace, senders: int, cpu: int) -> Iterator[Row]:
    """The rows of the victim on that core, in the order of its output."""
    passages = [r for r in trace.records if isinstance(r, Passage) and r.vcpu == cpu]
    marks = 0
    for line in trace.lines:
        if (match := _MEASURED.fullmatch(line)) is None:
            continue
        samples = int(match[2])
        part, passages = passages[:samples], passages[samples:]
        if len(part) < samples:
            raise WorkError(f"of {samples} times `{match[1]}` {len(part)} were seen")
        if match[1] == NONE:
            marks = max(passage.el2 for passage in part)
            continue
        stolen = [passage.el2 - marks for passage in part]
        yield SETTING.row(
            ("storm", "stolen"), {"path": match[1], "senders": senders}, stolen, Kinds()
        )
