"""Search for alternatives: single settings first, then combinations of good ones.

Each generation depends on the complete previous one, not on the order of results, so the outcome
does not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from tenonos.explore.journal import Journal, key
from tenonos.explore.oracle import Verdict, unbeaten
from tenonos.explore.smallest import Smallest
from tenonos.explore.space import Alternative, Deviation, Space, shortened
from tenonos.explore.workers import Workers
from tenonos.plan.learned import Dependency


@dataclass
class Search:
    """A search with its results."""

    space: Space
    journal: Journal
    workers: Workers
    seconds: float
    most: int
    """The most alternatives, the composition included."""
    tell: Callable[[str], None]
    found: dict[Alternative, Verdict] = field(default_factory=dict)

    def run(self) -> None:
        """Evaluate generations until there is nothing new, or the limit is reached."""
        self._judge([()])
        if not self.found[()].built:
            return
        # If the composition fails, one of its settings may be the cause.
        self._judge([(setting,) for setting in self.space.settings])
        while self.found[()].good and len(self.found) < self.most and (new := self._together()):
            self._judge(new)

    def shrink(self) -> None:
        """Minimise the size alone: one setting at a time, kept if it saves bytes."""
        Smallest(self.space, self._one, {}).run()

    def learned(self) -> list[Dependency]:
        """Learned dependencies: settings that must stay, or the one that must change for
        success."""
        alone = [*self._alone()]
        if self.found[()].good:
            return [self._dependency(*each) for each in alone if not each[2].good]
        best = self.front[:1]
        return [self._dependency(*each) for each in alone if [(each[1],)] == best]

    def undone(self) -> set[tuple[str, tuple[str, ...]]]:
        """Keys of settings that work either way: disproved dependencies."""
        good = [self._dependency(*pair) for pair in self._alone() if pair[0].good and pair[2].good]
        return {each.key for each in good}

    def _alone(self) -> Iterator[tuple[Verdict, Deviation, Verdict]]:
        """The verdicts on single settings: as composed, and changed."""
        for alternative, verdict in self.found.items():
            if len(alternative) == 1:
                yield self.found[()], alternative[0], verdict

    def _dependency(self, composed: Verdict, setting: Deviation, other: Verdict) -> Dependency:
        bad = composed if other.good else other
        return Dependency(
            symbol=setting.symbol,
            value=setting.value if other.good else not setting.value,
            when=self.space.libraries(setting.image),
            why=bad.why or "",
        )

    @property
    def front(self) -> list[Alternative]:
        """The Pareto front; of ties the one with the fewest deviations."""
        return front(self.found)

    def _judge(self, wanted: Iterable[Alternative]) -> None:
        generation = [a for a in wanted if a not in self.found][: self.most - len(self.found)]
        files = {alternative: self.space.made(alternative) for alternative in generation}
        keys = {alternative: key(files[alternative], self.seconds) for alternative in generation}
        verdicts = {a: self.journal.found[k] for a, k in keys.items() if k in self.journal.found}
        open_ones = [alternative for alternative in generation if alternative not in verdicts]
        asked = [files[alternative] for alternative in open_ones]
        for place, verdict in self.workers.verdicts(asked, self.seconds):
            alternative = open_ones[place]
            verdicts[alternative] = verdict
            self.journal.add(keys[alternative], shortened(alternative), verdict)
            self.tell(f"{len(self.found) + len(verdicts)} of {self.most} at most")
        self.found |= {alternative: verdicts[alternative] for alternative in generation}

    def _one(self, alternative: Alternative) -> Verdict:
        self._judge([alternative])
        return self.found.get(alternative, Verdict(built=False, why="enough were judged"))

    def _together(self) -> list[Alternative]:
        """Pairs of good alternatives, each better than the composition in a measure."""
        composed = self.found[()]
        better = [
            alternative
            for alternative, verdict in self.found.items()
            if alternative and verdict.good and _better(verdict, composed)
        ]
        pairs = (self.space.joined(a, b) for a, b in combinations(better, 2))
        return list(dict.fromkeys(p for p in pairs if p is not None and p not in self.found))


def _better(one: Verdict, other: Verdict) -> bool:
    """Whether one is better than the other in a measure."""
    return any(a < b for a, b in zip(one.measures, other.measures, strict=True))


def front(found: dict[Alternative, Verdict]) -> list[Alternative]:
    """The Pareto front; of ties the one with the fewest deviations."""
    best = unbeaten(found)
    least: dict[tuple[int, ...], Alternative] = {}
    for alternative in sorted(best, key=lambda a: (len(a), a)):
        least.setdefault(best[alternative].measures, alternative)
    return [*least.values()]
