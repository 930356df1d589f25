"""Costs of the kernels' paths in instructions, as measured and recorded in the tree.

Tenon's are rows of `bench/results/rows.json`, the same as in the table of `docs/costs.md`. A
compiler of another version may need a tenth more (or two instructions): so much is added here.
Those of a shared core are the worst of the kept run of `bench share --full`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from tenonos.analysis.recorded import RecordedRows
from tenonos.errors import WorkError
from tenonos.paths import ROOT

PAGE, RUN = "docs/costs.md", "bench/results/share-full.json"


@dataclass(frozen=True)
class Costs:
    """Costs on one core: release until the task runs, end of a job, longest masked section."""

    wake: int
    leave: int
    masked: int
    source: str


@cache
def alone() -> Costs:
    """Costs on a core that a VM owns."""
    rows = RecordedRows.load()
    return Costs(
        wake=_row(rows, "irq wake fp=false median"),
        leave=_row(rows, "timer start mode=tickless median")
        + _row(rows, "sched block_switch median"),
        masked=_row(rows, "timer masked_max mode=tickless pending=10000 max"),
        source=PAGE,
    )


@cache
def shared() -> Costs:
    """Costs on a core shared by VMs: any two jobs may be separated by a VM switch."""
    own = alone()
    return Costs(
        wake=max(own.wake, _worst("dispatch_delay")),
        leave=own.leave + _worst("vm_switch"),
        masked=max(own.masked, _worst("masked_max")),
        source=f"{PAGE}, {RUN}",
    )


def _row(rows: RecordedRows, words: str) -> int:
    stated = int(rows.value(words).replace(",", ""))
    return max(stated + 2, stated * 10 // 9)


def _worst(name: str) -> int:
    rows = json.loads((ROOT / RUN).read_text())["rows"]
    found = [row["max"] for row in rows if row["name"] == name]
    if not found:
        raise WorkError(f"{RUN} has no row {name}, which the analysis of tasks needs")
    return max(found)
