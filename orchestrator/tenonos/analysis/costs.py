"""What the kernels' paths cost, as measured and kept in the tree; instructions.

Tenon's are those of the first table of `docs/costs.md`, which a test holds against the bench
within a tenth (or two instructions): here the most that such a row may stand for. Those of a
core that VMs share are the worst of the kept run of `bench share --full`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache

from tenonos.errors import WorkError
from tenonos.paths import ROOT

PAGE, RUN = "docs/costs.md", "bench/results/share-full.json"


@dataclass(frozen=True)
class Costs:
    """Of one core: a release until its task runs, a job's end, and the longest masked section."""

    wake: int
    leave: int
    masked: int
    source: str


@cache
def alone() -> Costs:
    """Of a core that is its VM's own."""
    return Costs(
        wake=_row("timer interrupt →"),
        leave=_row("start of a timer") + _row("block →"),
        masked=_row("longest section"),
        source=PAGE,
    )


@cache
def shared() -> Costs:
    """Of a core that VMs share: between any two jobs there may be a change of VMs."""
    own = alone()
    return Costs(
        wake=max(own.wake, _worst("dispatch_delay")),
        leave=own.leave + _worst("vm_switch"),
        masked=max(own.masked, _worst("masked_max")),
        source=f"{PAGE}, {RUN}",
    )


def _row(start: str) -> int:
    found = re.search(
        rf"^\| {re.escape(start)}[^|]*\| ([\d,]+) \|", (ROOT / PAGE).read_text(), re.MULTILINE
    )
    if found is None:
        raise WorkError(f"{PAGE} has no row “{start}”, which the analysis of tasks needs")
    return _at_most(int(found[1].replace(",", "")))


def _at_most(stated: int) -> int:
    """The largest figure of which a test would let it be said."""
    return max(stated + 2, stated * 10 // 9)


def _worst(name: str) -> int:
    rows = json.loads((ROOT / RUN).read_text())["rows"]
    found = [row["max"] for row in rows if row["name"] == name]
    if not found:
        raise WorkError(f"{RUN} has no row {name}, which the analysis of tasks needs")
    return max(found)
