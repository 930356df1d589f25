"""Evaluation of compositions: whether they build and boot, and their excess over the smallest.

All of them take an hour: good results are kept in a journal, so that an interrupted run resumes,
and failures are retried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenonos import paths
from tenonos.explore.journal import Journal, key
from tenonos.explore.oracle import Verdict
from tenonos.explore.smallest import Grown, Smallest
from tenonos.explore.space import Space, shortened
from tenonos.explore.workers import Workers
from tenonos.plan.models import Composition
from tenonos.plan.pool import Pool

SECONDS = 0.5
"""Seconds of guest time without a stop after boot."""
JOURNAL = paths.DOT / "bench" / "composed.jsonl"

Files = Mapping[str, str]


@dataclass(frozen=True)
class Over:
    """The excess of a composition over the smallest found."""

    bytes: int
    smallest: int
    by: str
    """The deviations of the smallest one."""


class Boots:
    """Compositions, built and booted, each distinct one once."""

    def __init__(self, tell: Callable[[str], None], who: Workers, journal: Path = JOURNAL) -> None:
        self._tell = tell
        self._who = who
        paths.ensure(journal.parent)
        self._journal = Journal.opened(journal)
        self._done: dict[str, Verdict] = {}
        self._over: dict[str, Over] = {}
        self._grown: Grown = {}

    def of(self, answers: Sequence[Composition]) -> list[Verdict]:
        """The verdicts on compositions."""
        return self._verdicts([_told(answer.files) for answer in answers])

    def different(self, answers: Sequence[Composition]) -> int:
        """The number of distinct ones."""
        return len({_key(answer) for answer in answers})

    def over(self, answer: Composition, pool: Pool) -> Over | None:
        """The excess of a good composition over its smallest alternative."""
        name = _key(answer)
        if name not in self._over:
            space = Space.of(answer, pool)
            search = Smallest(
                space, lambda one: self._verdicts([_told(space.made(one))])[0], self._grown
            )
            search.run()
            composed, smallest = self._done[name], search.verdict
            if composed.size is None or smallest.size is None or not smallest.good:
                return None
            more = composed.size - smallest.size
            self._over[name] = Over(more, smallest.size, shortened(search.best))
        return self._over[name]

    def _verdicts(self, asked: Sequence[Files]) -> list[Verdict]:
        names = [key(files, SECONDS) for files in asked]
        known = {n: self._journal.found[n] for n in names if n in self._journal.found}
        self._done = known | self._done
        missing = {n: f for n, f in zip(names, asked, strict=True) if n not in self._done}
        order = [*missing]
        for place, verdict in self._who.verdicts([*missing.values()], SECONDS):
            self._done[order[place]] = verdict
            if verdict.good:
                self._journal.add(order[place], order[place], verdict)
            self._tell(f"{len(self._done)} systems")
        return [self._done[name] for name in names]


def _key(answer: Composition) -> str:
    return key(_told(answer.files), SECONDS)


def _told(files: Files) -> dict[str, str]:
    """The files without comments, which contain the objective, and without explanations."""
    return {name: _settings(text) for name, text in files.items() if name != "explain.json"}


def _settings(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not _is_comment(line))


def _is_comment(line: str) -> bool:
    return line.startswith("#") and not line.endswith(" is not set")
