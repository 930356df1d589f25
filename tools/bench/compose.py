"""Suite `compose`: objectives answered correctly, built and booted.

Each objective of `bench/objectives` is composed by the offline planner, and by a baseline without
grammar that demands the best hits of a plain ranking. With `--full` the compositions of the test
set are also built and booted, each distinct one once, and compared with the smallest alternative.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenonos.explore.workers import workers
from tenonos.plan.compose import compose
from tenonos.plan.models import Composition
from tenonos.plan.planner import Planner, planner
from tenonos.plan.pool import Pool
from tenonos.settings import SETTINGS
from tools.bench.boots import Boots, Over
from tools.bench.objectives import PARTS, Objective, objectives
from tools.bench.ranking import Ranking
from tools.bench.row import Number, Row
from tools.bench.verdicts import HOST, RANKING, SUITE

OFFLINE = "offline"


@dataclass(frozen=True)
class Answered:
    """An objective with its answer."""

    objective: Objective
    answer: Composition
    seconds: float
    faults: tuple[str, ...] = field(default=())


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    pool = Pool()
    planners: dict[str, Planner] = {OFFLINE: planner(OFFLINE), RANKING: Ranking()}
    asked = objectives()
    answered(asked[:1], pool, planners[OFFLINE])  # load the pool outside the measurement
    for part in PARTS:
        of_part = [objective for objective in asked if objective.part == part]
        answers: dict[str, list[Answered]] = {}
        for name, using in planners.items():
            tell(f"{part}, {name}")
            answers[name] = answered(of_part, pool, using)
            yield from counted(answers[name], name, part)
        if full and part == "test":
            yield from made(answers[OFFLINE], part, pool, tell)


def answered(asked: Sequence[Objective], pool: Pool, using: Planner) -> list[Answered]:
    """The answers of a planner, with the time of each."""
    found = []
    for objective in asked:
        begun = time.perf_counter()
        answer = compose(objective.text, pool=pool, using=using)
        seconds = time.perf_counter() - begun
        found.append(Answered(objective, answer, seconds, tuple(objective.faults(answer))))
    return found


def counted(answers: Sequence[Answered], name: str, part: str) -> Iterator[Row]:
    """The number of correct answers, in total and by class of phrasing, with the errors of the
    rest."""
    params = {"planner": name, "set": part}
    right = [found for found in answers if not found.faults]
    yield _count("total", params, len(answers))
    missed = [
        {"class": a.objective.phrasing, "objective": a.objective.text, "faults": list(a.faults)}
        for a in answers
        if a.faults
    ]
    yield replace(_count("correct", params, len(right)), options={"missed": missed})
    total = Counter(found.objective.phrasing for found in answers)
    correct = Counter(found.objective.phrasing for found in right)
    for phrasing, count in total.items():
        of_class = params | {"class": phrasing}
        yield _count("total_of_class", of_class, count)
        yield _count("correct_of_class", of_class, correct[phrasing])
    seconds = [round(found.seconds, 3) for found in answers]
    yield Row.of((SUITE, "solve_seconds"), params, seconds, **_WHERE, unit="seconds")


def made(
    answers: Sequence[Answered], part: str, pool: Pool, tell: Callable[[str], None]
) -> Iterator[Row]:
    """The numbers of composed, built and booted systems, and their sizes."""
    params = {"planner": OFFLINE, "set": part}
    composed = [found for found in answers if found.answer.accepted]
    with workers(None, SETTINGS.jobs) as who:
        boots = Boots(tell, who)
        of_all = [found.answer for found in composed]
        outcomes = boots.of(of_all)
        failed = [
            {"objective": found.objective.text, "faults": [outcome.why]}
            for found, outcome in zip(composed, outcomes, strict=True)
            if not outcome.good
        ]
        classes = [found.objective.phrasing for found in composed]
        counts = {
            "composed": [True for _ in outcomes],
            "built": [outcome.built for outcome in outcomes],
            "booted": [outcome.good for outcome in outcomes],
        }
        told: dict[str, dict[str, Any]] = {
            "composed": {"systems": boots.different(of_all)},
            "booted": {"missed": failed},
        }
        for name, each in counts.items():
            yield replace(_count(name, params, sum(each)), options=told.get(name, {}))
            of_class = Counter(c for c, is_so in zip(classes, each, strict=True) if is_so)
            for phrasing in dict.fromkeys(classes):
                key = params | {"class": phrasing}
                yield _count(f"{name}_of_class", key, of_class[phrasing])
        over = [boots.over(answer, pool) for answer in of_all]
        yield from bytes_over(params, classes, over)


def bytes_over(
    params: Mapping[str, Any], classes: Sequence[str], over: Sequence[Over | None]
) -> Iterator[Row]:
    """The excess of systems over the smallest found, in total and by class."""
    pairs = [(c, o) for c, o in zip(classes, over, strict=True) if o is not None]
    for phrasing in (None, *dict.fromkeys(c for c, _ in pairs)):
        found = [o for c, o in pairs if phrasing in (None, c)]
        if not found:
            continue
        by = Counter(one.by for one in found)
        percent = sorted(round(100 * one.bytes / one.smallest, 1) for one in found)
        options = {"percent": percent[len(percent) // 2], "smallest": dict(by.most_common())}
        name = "bytes_over_minimum" if phrasing is None else "bytes_over_minimum_of_class"
        of = dict(params) if phrasing is None else {**params, "class": phrasing}
        bytes_ = [one.bytes for one in found]
        yield replace(Row.of((SUITE, name), of, bytes_, **_WHERE, unit="bytes"), options=options)


_WHERE: dict[str, Any] = {"environment": HOST, "system": "objectives"}


def _count(name: str, params: dict[str, Any], value: Number) -> Row:
    return Row(SUITE, name, params, 1, value, value, value, value, unit="count", **_WHERE)
