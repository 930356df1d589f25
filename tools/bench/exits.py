"""Suite `exits`: instructions of Mortise for exits of a guest that owns its core.

In `bench-exits` a VM of each interrupt mode makes every exit repeatedly, each between two marks.
The instructions of Mortise on that core are the cost of the exit; those on other cores, for a
doorbell, are the cost of the receiver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tenonos import build, system
from tenonos.errors import WorkError
from tenonos.run.plugin import Passage, Visit
from tools.bench.machine import Place, Trace
from tools.bench.machine import run as start
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row, most_common

SYSTEM = "bench-exits"
STATIC = "mortise-static"
SETTING = Setting(SYSTEM, STATIC)

KINDS = ("shared", "direct")
"""The interrupt modes, which are also the names of the measured VMs."""

INTERRUPT = {"shared": "irq_list_register", "direct": "irq_direct"}

_MEASURED = re.compile(r"measured (\w+)(?: to-(\w+))? samples=(\d+)")


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    built = build.build(system.load(SYSTEM))
    for irq in KINDS:
        tell(f"{SYSTEM}, {irq}")
        trace = start(Place(built, irq, bare=False, exits=True), "end of exits")
        yield from rows_of(trace, irq, built.system.vm(irq).cpus[0])


def rows_of(trace: Trace, irq: str, cpu: int) -> Iterator[Row]:
    """The rows of the VM on that core, in the order of its output."""
    records = [record for record in trace.records if record.vcpu == cpu]
    passages = [record for record in records if isinstance(record, Passage)]
    for line in trace.lines:
        if (match := _MEASURED.fullmatch(line)) is None:
            continue
        name, called, samples = match[1], match[2] or irq, int(match[3])
        part, passages = passages[:samples], passages[samples:]
        if len(part) < samples:
            raise WorkError(f"of {samples} times `{name}` {len(part)} were seen")
        yield _row(name, called, part)
    if passages:
        raise WorkError(f"{len(passages)} exits have no name")
    sections = [visit.section for visit in _between(records)]
    yield SETTING.row(("exits", "masked_max"), {"irq": irq}, sections, Kinds())


def _row(name: str, irq: str, passages: Sequence[Passage]) -> Row:
    params = {"irq": irq}
    if name == "doorbell_receive":
        # No more is known of other cores.
        elsewhere = [passage.el2_everywhere - passage.el2 for passage in passages]
        return SETTING.row(("exits", name), params, elsewhere, Kinds())
    if name == "irq":
        name, params = INTERRUPT[irq], {}
    kinds = most_common([Kinds(p.barriers, p.sysreg_writes, p.mmio) for p in passages])
    return SETTING.row(("exits", name), params, [p.el2 for p in passages], kinds)


def _between(records: Sequence[Passage | Visit]) -> Iterator[Visit]:
    """The visits between the first and the last passage."""
    ends = [index for index, record in enumerate(records) if isinstance(record, Passage)]
    for record in records[ends[0] : ends[-1]]:
        if isinstance(record, Visit):
            yield record
