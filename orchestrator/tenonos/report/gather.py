"""Data of a report: composition, build, run, and explored alternatives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tenonos.build import build, size
from tenonos.explore.journal import FILE as EXPLORED
from tenonos.explore.journal import Journal
from tenonos.explore.oracle import Verdict
from tenonos.plan.explain import FILE as COMPOSED
from tenonos.plan.explain import Explainer, Explanation
from tenonos.plan.models import Analysis, Item
from tenonos.plan.parameters import Parameter
from tenonos.plan.pool import Pool
from tenonos.plan.report import made_lines
from tenonos.run import RunOptions, Session, Target
from tenonos.run.result import Result
from tenonos.system import System


@dataclass(frozen=True)
class Composed:
    """The record of `compose` beside the system."""

    record: Mapping[str, Any]
    plan: list[Item]
    because: list[Explanation]
    analysis: Analysis
    made: list[str]
    """Its channels, VMs created on demand and devices, a line each."""
    parameters: list[tuple[str, Parameter]]
    """Parameters of each image."""

    @classmethod
    def of(cls, record: Mapping[str, Any], explainer: Explainer) -> Composed:
        """The content of `explain.json`, with derived data."""
        made = made_lines(explainer.channels(), explainer.templates(), explainer.devices())
        numbers = list(explainer.parameters())
        return cls(record, explainer.plan(), explainer.all(), explainer.analysis(), made, numbers)


@dataclass(frozen=True)
class Found:
    """All data of the report."""

    system: System
    sizes: Mapping[str, Any]
    """Sizes, as in `./tenon size`."""
    result: Result
    seconds: float
    latencies: Mapping[tuple[str, str], Mapping[int, int]]
    """Counts of latencies, by VM and task."""
    composed: Composed | None = None
    explored: Mapping[str, Verdict] = field(default_factory=dict)
    """The verdicts of `explore`, by deviation."""


def gather(system: System, seconds: float) -> Found:
    """Build and run a system, and read the files beside it."""
    built = build(system)
    session = Session(Target.of(built), RunOptions(seconds=seconds, deterministic=True), [])
    result = session.run()
    latencies = {
        (record.task.vm, record.task.name): dict(record.latency.counts)
        for record in session.window.records
    }
    return Found(
        system=system,
        sizes=size.measure(built),
        result=result,
        seconds=seconds,
        latencies=latencies,
        composed=_composed(system),
        explored=Journal.opened(system.folder / EXPLORED).by_name,
    )


def _composed(system: System) -> Composed | None:
    file = system.folder / COMPOSED
    if not file.exists():
        return None
    return Composed.of(json.loads(file.read_text()), Explainer(system.folder, Pool()))
