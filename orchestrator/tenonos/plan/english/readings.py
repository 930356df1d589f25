"""Readings of an objective: repeated with another interpretation if periods share a VM."""

from __future__ import annotations

from collections.abc import Sequence

from tenonos.plan.english.objective import PLANNER, Reader
from tenonos.plan.english.rates import hurried, names_any, names_more
from tenonos.plan.english.subjects import UNNAMED
from tenonos.plan.models import Missing, Plan
from tenonos.plan.retrieval.retrieve import Retriever


def read(text: str, retriever: Retriever, cpus: int, boards: Sequence[str] = ()) -> Plan:
    """The plan of an objective for a board; several periods without a noun are tasks."""
    if not text.strip():
        return Plan(objective=text, planner=PLANNER, missing=[Missing(source=text)])
    reader = Reader(text, retriever, cpus, boards)
    plan = reader.read()
    unnamed = all(subject.base == UNNAMED for subject in reader.subjects.tenons)
    more = hurried(plan) and (names_more(reader.words) or not names_any(reader.words))
    if reader.periods < 2 or not (unnamed or more):
        return plan
    # "The controller runs at 1 kHz and the logging task at 10 Hz": that is one more.
    apart = Reader(text, retriever, cpus, boards, tasks=True).read()
    worse = hurried(apart) or len(apart.missing) > len(plan.missing)
    return plan if worse and not unnamed else apart
