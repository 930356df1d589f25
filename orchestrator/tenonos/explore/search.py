"""The search: single settings first, then what is good of them together.

Generation by generation: what the next one is depends on the whole one before it, never on who
was ready first, so that any number of workers finds the same.
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
    """One search and what it has found."""

    space: Space
    journal: Journal
    workers: Workers
    seconds: float
    most: int
    """Alternatives at most, the composition itself among them."""
    tell: Callable[[str], None]
    found: dict[Alternative, Verdict] = field(default_factory=dict)

    def run(self) -> None:
        """Judge generations until one brings nothing new, or enough were judged."""
        self._judge([()])
        if not self.found[()].built:
            return
        # Where the composition does not do what it is for, one of its settings may be why.
        self._judge([(setting,) for setting in self.space.settings])
        while self.found[()].good and len(self.found) < self.most and (new := self._together()):
            self._judge(new)

    def shrink(self) -> None:
        """Judge only what may be smaller: a setting more at a time, kept where it saves bytes."""
        Smallest(self.space, self._one, {}).run()

    def learned(self) -> list[Dependency]:
        """Settings that must be as composed; or the one that must not, if all is good by that."""
        alone = [*self._alone()]
        if self.found[()].good:
            return [self._dependency(*each) for each in alone if not each[2].good]
        best = self.front[:1]
        return [self._dependency(*each) for each in alone if [(each[1],)] == best]

    def undone(self) -> set[tuple[str, tuple[str, ...]]]:
        """What was good either way, so that nothing depends on it."""
        good = [self._dependency(*pair) for pair in self._alone() if pair[0].good and pair[2].good]
        return {each.key for each in good}

    def _alone(self) -> Iterator[tuple[Verdict, Deviation, Verdict]]:
        """What was judged of single settings: as composed, and otherwise."""
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
        """Those that no other one dominates; of equals the one that deviates least."""
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
        """What is good by itself and better in something than the composition, in pairs."""
        composed = self.found[()]
        better = [
            alternative
            for alternative, verdict in self.found.items()
            if alternative and verdict.good and _better(verdict, composed)
        ]
        pairs = (self.space.joined(a, b) for a, b in combinations(better, 2))
        return list(dict.fromkeys(p for p in pairs if p is not None and p not in self.found))


def _better(one: Verdict, other: Verdict) -> bool:
    """Whether one is better than the other in something."""
    return any(a < b for a, b in zip(one.measures, other.measures, strict=True))


def front(found: dict[Alternative, Verdict]) -> list[Alternative]:
    """The Pareto front: of equals the one that deviates least."""
    best = unbeaten(found)
    least: dict[tuple[int, ...], Alternative] = {}
    for alternative in sorted(best, key=lambda a: (len(a), a)):
        least.setdefault(best[alternative].measures, alternative)
    return [*least.values()]
