"""What compositions are worth: whether they build and boot, and how small they could be.

All of them take an hour: what was good is kept in a journal, so that a run that was ended
goes on where it was, and what was not is tried again.
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
"""Of guest time in which nothing may stop once all have booted."""
JOURNAL = paths.DOT / "bench" / "composed.jsonl"

Files = Mapping[str, str]


@dataclass(frozen=True)
class Over:
    """How much larger a composition is than the smallest that was found."""

    bytes: int
    smallest: int
    by: str
    """What is otherwise in that one."""


class Boots:
    """Compositions built and booted, equal ones once."""

    def __init__(self, tell: Callable[[str], None], who: Workers, journal: Path = JOURNAL) -> None:
        self._tell = tell
        self._who = who
        paths.ensure(journal.parent)
        self._journal = Journal.opened(journal)
        self._done: dict[str, Verdict] = {}
        self._over: dict[str, Over] = {}
        self._grown: Grown = {}

    def of(self, answers: Sequence[Composition]) -> list[Verdict]:
        """What became of compositions."""
        return self._verdicts([_told(answer.files) for answer in answers])

    def different(self, answers: Sequence[Composition]) -> int:
        """How many are not equal to an earlier one."""
        return len({_key(answer) for answer in answers})

    def over(self, answer: Composition, pool: Pool) -> Over | None:
        """How much a composition has over the smallest of it; nothing of one that is not good."""
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
    """The files without comments, which tell the objective, and without what only explains."""
    return {name: _settings(text) for name, text in files.items() if name != "explain.json"}


def _settings(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not _is_comment(line))


def _is_comment(line: str) -> bool:
    return line.startswith("#") and not line.endswith(" is not set")
