"""A reading from the scores of the heads: the most probable claims that fit together."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenonos.plan.reader import heads, reading
from tenonos.plan.reader.encoder import softmax
from tenonos.plan.reader.numbers import Found
from tenonos.plan.reader.pieces import Piece

_EVIDENCE = 0.2
"""The least probability of a token of evidence beside the most probable one."""
_FALL = 3.5
"""The most that the score of a token of evidence is below the best one's."""
_HELD = 0.5
_POSSESSIVE = re.compile(r"^['’]?s(?= )")
LIKELY = 0.05
"""The least probability of a statement that is less probable than none."""
_UNITS = {
    "ns": "period deadline jitter wcet tick slice budget latency".split(),
    "bytes": "ram image disk size".split(),
    "bytes/s": ["bandwidth"],
    "cpu": ["cpu"],
}
_UNIT = {role: unit for unit, roles in _UNITS.items() for role in roles}
_TIMES, _SIZES = frozenset(_UNITS["ns"]), frozenset([*_UNITS["bytes"], "bandwidth"])
_ALLOWED: Mapping[str, frozenset[str]] = {
    "rate": _TIMES,
    "time": _TIMES,
    "size": _SIZES,
    "count": frozenset(["cores", "priority", "vms", "cpu"]),
    "cpu": frozenset(["cpu", "cores"]),
}
"""The roles of a quantity, by its dimension."""


@dataclass(frozen=True)
class Scores:
    """The scores of one objective, without padding."""

    polarities: np.ndarray[Any, Any]
    """Probabilities, as [label, polarity]."""
    evidence: np.ndarray[Any, Any]
    marks: np.ndarray[Any, Any]
    """Probabilities, as [token, group, mark]."""
    counts: np.ndarray[Any, Any]
    relations: np.ndarray[Any, Any]
    roles: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Run:
    """A marked piece: its group, and its tokens [first, last)."""

    group: str
    first: int
    last: int
    sure: float


class Decoder:
    """The decoding of one objective."""

    def __init__(
        self, text: str, pieces: Sequence[Piece], scores: Scores, numbers: Sequence[Found]
    ) -> None:
        self.text = text
        self.pieces = pieces
        self.scores = scores
        self.numbers = numbers
        self.runs = list(self._runs())

    def reading(self, names: Sequence[str], cut: int | None) -> reading.Reading:
        """The reading; `names` are those of the labels."""
        guests = self._whole(_apart(self._of("vm.")))
        jobs = self._whole(self._of("task"))
        vms = [self._vm(run) for run in guests]
        for kind in ("name", "role"):
            self._named(kind, guests, vms)
        said = [*self._statements(names)]
        return reading.Reading(
            text=self.text,
            capabilities=tuple(s for s, held in said if held),
            likely=tuple(s for s, held in said if not held),
            vms=tuple(vms),
            tasks=tuple(self._task(run, guests) for run in jobs),
            quantities=tuple(self._quantities(jobs, guests)),
            spans=tuple(self._spans()),
            cut=cut,
        )

    def _runs(self) -> Iterator[Run]:
        """The marked pieces of each group."""
        best = self.scores.marks.argmax(-1)
        for number, group in enumerate(heads.GROUPS):
            first = None
            column = [*best[:, number].tolist(), 0]
            for at, mark in enumerate(column):
                if first is not None and mark != 2:
                    sure = 1 - float(self.scores.marks[first:at, number, 0].mean())
                    yield Run(group, first, at, sure)
                    first = None
                if mark == 1 or (mark == 2 and first is None):
                    first = at

    def _of(self, head: str) -> list[Run]:
        found = (run for run in self.runs if run.group.startswith(head))
        return sorted(found, key=lambda run: run.first)

    def _whole(self, runs: Sequence[Run]) -> list[Run]:
        """Runs of one kind with nothing or a possessive between them are one: `one` and `real-time
        guest`, `pump` and `'s VM`."""
        found: list[Run] = []
        for run in runs:
            before = found[-1] if found else None
            if before is not None and before.group == run.group and self._adjoin(before, run):
                sure = max(before.sure, run.sure)
                found[-1] = Run(run.group, before.first, run.last, sure)
            else:
                found.append(run)
        return found

    def _adjoin(self, before: Run, run: Run) -> bool:
        start, end = self.pieces[before.last - 1].end, self.pieces[run.first].start
        return not _POSSESSIVE.sub("", self.text[start:end]).strip(" :-")

    def _words(self, first: int, last: int) -> tuple[str, int]:
        """The words of tokens [first, last), whole, and their position."""
        start, end = self.pieces[first].start, self.pieces[last - 1].end
        while start and _joined(self.text[start - 1 : start + 1]):
            start -= 1
        while end < len(self.text) and _joined(self.text[end - 1 : end + 1]):
            end += 1
        words = self.text[start:end]
        return words.strip(), start + len(words) - len(words.lstrip())

    def _claim(self, run: Run) -> dict[str, Any]:
        span, at = self._words(run.first, run.last)
        return {"span": span, "at": at, "confidence": round(run.sure, 3)}

    def _statements(self, names: Sequence[str]) -> Iterator[tuple[reading.Statement, bool]]:
        """The statements, each with whether it is more probable than none."""
        found = []
        for number, name in enumerate(names):
            chances = self.scores.polarities[number]
            held = int(chances.argmax()) > 0
            polarity = 1 + int(chances[1:].argmax())
            if not held and chances[polarity] < LIKELY:
                continue
            sure = round(float(chances[polarity]), 3)
            said: tuple[Any, ...] = (heads.POLARITIES[polarity],)
            if said == (heads.CONTRADICTED,):
                said = ("forbidden", "demanded")
            first, last = self._evidence(number)
            for place, each in enumerate(said):
                if place:
                    first, last = self._evidence(number, range(first, last))
                span, at = self._words(first, last)
                one = reading.Statement(span=span, at=at, confidence=sure, name=name, polarity=each)
                found.append((one, held))
        yield from sorted(found, key=lambda pair: pair[0].at)

    def _evidence(self, number: int, without: Collection[int] = ()) -> tuple[int, int]:
        """The tokens that state a capability: the run around the most probable one, `without`
        those that state something else of it."""
        scores = self.scores.evidence[number].copy()
        scores[[*without]] = scores.min() - _FALL
        inner = scores[1:-1] if len(scores) > 2 else scores
        best = int(inner.argmax()) + (len(scores) > 2)
        least = min(math.log(_EVIDENCE / (1 - _EVIDENCE)), scores[best] - _FALL)
        first, last = best, best + 1
        while first > 1 and scores[first - 1] > least:
            first -= 1
        while last < len(scores) - 1 and scores[last] > least:
            last += 1
        return first, last

    def _count(self, run: Run, which: int) -> int:
        return int(self.scores.counts[run.first, which].argmax()) + 1

    def _vm(self, run: Run) -> reading.Vm:
        kind: Any = run.group.removeprefix("vm.")
        return reading.Vm(**self._claim(run), kind=kind, count=self._count(run, 0))

    def _named(self, kind: str, guests: Sequence[Run], vms: list[reading.Vm]) -> None:
        """Give the VMs their names or roles."""
        for run in self._of(kind):
            owner = self._end(f"{kind}-vm", run.first, guests)
            if owner is not None and getattr(vms[owner], kind) is None:
                words, _ = self._words(run.first, run.last)
                vms[owner] = vms[owner].model_copy(update={kind: words})

    def _end(self, relation: str, first: int, others: Sequence[Run]) -> int | None:
        """The most probable end of a relation; None for none of them."""
        scores = self.scores.relations[heads.RELATIONS.index(relation), first]
        ends = [float(scores[0]), *(float(scores[other.first]) for other in others)]
        best = int(np.argmax(ends))
        return best - 1 if best else None

    def _task(self, run: Run, guests: Sequence[Run]) -> reading.Task:
        vm = self._end("task-vm", run.first, guests)
        return reading.Task(**self._claim(run), count=self._count(run, 1), vm=vm)

    def _quantities(self, jobs: Sequence[Run], guests: Sequence[Run]) -> Iterator[reading.Amount]:
        for number, found in enumerate(self.numbers):
            allowed = ("none", *_ALLOWED[found.dimension])
            chances = {
                role: float(self.scores.roles[number, heads.ROLES.index(role)]) for role in allowed
            }
            role = max(chances, key=chances.__getitem__)
            if role == "none":
                continue
            value = found.value
            if role == "cpu" and isinstance(value, int):
                value = (value,)
            if role != "cpu" and isinstance(value, tuple):
                value = len(value)
            first = _first(self.pieces, found)
            yield reading.Amount(
                span=self.text[found.start : found.end],
                at=found.start,
                confidence=round(chances[role] / sum(chances.values()), 3),
                role=role,
                value=value,
                unit=_UNIT.get(role),
                owner=(*self._owners("task", first, jobs), *self._owners("vm", first, guests)),
            )

    def _owners(self, kind: str, first: int, others: Sequence[Run]) -> Iterator[reading.Owner]:
        scores = self.scores.relations[heads.RELATIONS.index(f"quantity-{kind}"), first]
        for index, other in enumerate(others):
            if 1 / (1 + math.exp(-float(scores[other.first]))) > _HELD:
                yield reading.Owner(**{kind: index})

    def _spans(self) -> Iterator[reading.Span]:
        for run in self.runs:
            kind, _, value = run.group.partition(".")
            if kind == "utility" or kind in heads.SPANS:
                yield reading.Span(**self._claim(run), kind=kind, value=value or None)


def probabilities(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The probabilities along the last axis."""
    found: np.ndarray[Any, Any] = softmax(np, scores)
    return found


def tokens_of(pieces: Sequence[Piece], start: int, end: int) -> list[int]:
    """The tokens that share characters with [start, end)."""
    return [at for at, piece in enumerate(pieces) if piece.start < end and start < piece.end]


def _first(pieces: Sequence[Piece], found: Found) -> int:
    return next(iter(tokens_of(pieces, found.start, found.end)), 0)


def _apart(runs: Sequence[Run]) -> list[Run]:
    """The surest of runs that overlap."""
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: -run.sure):
        if all(run.last <= other.first or other.last <= run.first for other in kept):
            kept.append(run)
    return sorted(kept, key=lambda run: run.first)


def _joined(pair: str) -> bool:
    """Whether two characters are in one word, in a script with blanks between words."""
    return len(pair) == 2 and all(c.isalnum() and c < "\u2e80" for c in pair)
