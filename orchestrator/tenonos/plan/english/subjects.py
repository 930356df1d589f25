"""Subjects: the VMs of an objective, and coreference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tenonos.plan.english import grammar as g
from tenonos.plan.english.elements import Chunk, Cut, Element, Pronoun, Unit
from tenonos.plan.english.mark import Mark
from tenonos.plan.english.meaning import CERTAIN, Meaning
from tenonos.plan.english.sense import Sense
from tenonos.plan.english.text import Token
from tenonos.plan.retrieval.knowledge import GUEST

UNNAMED = "tenon"
MOST = 16
"""The most equal VMs to expand; more than any board has CPUs are refused anyway."""


@dataclass(eq=False)
class Subject:
    """One VM, or several alike."""

    kind: Literal["tenon", "linux"]
    base: str
    at: int
    """The element that first named it."""
    apps: frozenset[str] = frozenset()
    connector: str | None = None
    count: int = 1
    plural: bool = False
    """Whether it was named in the plural, without a number."""
    mentions: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class Subjects:
    """All subjects of an objective, in the order they are named."""

    def __init__(self, meaning: Meaning, elements: Sequence[Element], periods: int) -> None:
        self.meaning = meaning
        self.elements = elements
        self.periods = periods
        self.all: list[Subject] = []

    @property
    def tenons(self) -> list[Subject]:
        """The real-time VMs."""
        return [s for s in self.all if s.kind == "tenon"]

    @property
    def ordered(self) -> list[Subject]:
        """Real-time VMs first, as a `system.toml` lists them."""
        return sorted(self.all, key=lambda s: s.kind != "tenon")

    def guest(self, position: int, sense: Sense, unit: Unit | None, kind: str) -> Subject:
        """The guest system named by a phrase: a new one, or a previous one."""
        chunk = sense.chunk
        known = [s for s in self.all if s.kind == kind]
        more = chunk is not None and (chunk.count or chunk.apart or chunk.article == "another")
        again = not more
        if known and again:
            known[-1].mentions.append(position)
            return known[-1]
        subject = Subject("linux", kind, position, connector=unit.connector if unit else None)
        return self._new(subject, position, chunk)

    def app(self, position: int, sense: Sense, unit: Unit | None) -> Subject:
        """The VM with the application named by a phrase."""
        apps = self.meaning.apps(sense.entry)
        for subject in reversed(self.tenons):
            alike = not subject.apps or subject.apps & apps
            if alike and not self._another(position, sense.chunk, unit):
                subject.apps = (subject.apps & apps) or apps
                subject.base = self._base(subject.apps, sense)
                subject.mentions.append(position)
                if sense.chunk and sense.chunk.count:
                    subject.count = max(subject.count, min(sense.chunk.count, MOST))
                return subject
        if again := self._all_again(apps, sense.chunk):
            again.mentions.append(position)
            return again
        connector = unit.connector if unit else None
        subject = Subject("tenon", self._base(apps, sense), position, apps, connector)
        subject.plural = sense.plural or self._stands_for_several(position)
        return self._new(subject, position, sense.chunk)

    def _all_again(self, apps: frozenset[str], chunk: Chunk | None) -> Subject | None:
        """The last previous one, if all previous ones are meant: `keep the three loops apart`."""
        if chunk is None or chunk.article != "definite" or (chunk.count or 0) < 2:
            return None
        alike = [subject for subject in self.tenons if subject.apps & apps]
        several = sum(subject.count for subject in alike) == chunk.count
        return alike[-1] if several and len(alike) > 1 else None

    def serves_those_named(self, sense: Sense) -> bool:
        """Whether a bare word is the purpose of the previous VMs: `twice, for redundancy`."""
        chunk = sense.chunk
        bare = (
            chunk is not None and chunk.preposition == "for" and not (chunk.article or chunk.count)
        )
        definite = chunk is not None and chunk.article == "definite" and not chunk.preposition
        one = sense.last - sense.first == 1 and sense.entry.kind == "app"
        return (bare or definite) and one and any(subject.apps for subject in self.tenons)

    def pronoun(self, position: int, pronoun: Pronoun) -> Subject | None:
        """The VM that `another` repeats."""
        sole = len(self.tenons) == 1 and self.tenons[0].count == 1 and not self.tenons[0].plural
        before = self.elements[position - 1] if position else None
        same = isinstance(before, Pronoun) and before.at == pronoun.at - 1  # "a third one"
        named = self.elements[self.tenons[-1].at] if self.tenons else None
        chain = isinstance(named, Pronoun) and not same
        sole = sole or (chain and len(self.tenons) < self.periods)  # "one ..., one ..., one ..."
        of_several = pronoun.adds and bool(self.tenons) and self.tenons[-1].count > 1
        new = pronoun.new and not of_several  # "two loops, a fast one and a slow one"
        if self.tenons and (new or (pronoun.adds and sole and self.periods > 1)):
            last = self.tenons[-1]
            return self._new(Subject("tenon", last.base, position, last.apps), position, None)
        if self.tenons and self._contrasts(position):
            self.tenons[-1].mentions.append(position)
        return None

    def unnamed(self, position: int) -> Subject:
        """A VM known by demands only."""
        return self._new(Subject("tenon", UNNAMED, position), position, None)

    def nearest_tenon(self, position: int) -> Subject | None:
        """The real-time VM last named before an element."""
        before = [s for s in self.tenons if s.at <= position]
        return before[-1] if before else None

    def default(self) -> Subject | None:
        """The VM of a demand before any named VM; without any VM, a new one."""
        if self.tenons:
            return self.tenons[0]
        return None if self.all else self._named(self.unnamed(len(self.elements)))

    def explains(self, sense: Sense, words: Sequence[Token]) -> bool:
        """Whether words belong to the preceding guest: `Linux with a shell`."""
        if not self.all or self.all[-1].kind == "tenon":
            return False
        asked = [words[i].word for i in range(sense.first, sense.last)]
        hits = self.meaning.retriever.search(asked, CERTAIN)
        return any(hit.entry.name == GUEST + self.all[-1].base for hit in hits)

    def of(self, element: int) -> Subject | None:
        """The subject an element names, if it names one."""
        return next((s for s in self.all if element in s.mentions), None)

    def of_last_unit(self, position: int) -> Subject | None:
        """The subject that the phrase before an element names."""
        units = [at for at in range(position) if isinstance(self.elements[at], Unit)]
        return self.of(units[-1]) if units else None

    def name_all(self) -> None:
        """Name every VM after its application, numbered for equal ones."""
        total: dict[str, int] = {}
        for subject in self.ordered:
            total[subject.base] = total.get(subject.base, 0) + subject.count
        used: dict[str, int] = {}
        for subject in self.ordered:
            subject.names = []
            for _ in range(subject.count):
                number = used[subject.base] = used.get(subject.base, 0) + 1
                many = total[subject.base] > 1
                subject.names.append(f"{subject.base}-{number}" if many else subject.base)

    def _named(self, subject: Subject) -> Subject:
        self.name_all()
        return subject

    def _new(self, subject: Subject, position: int, chunk: Chunk | None) -> Subject:
        subject.mentions.append(position)
        if chunk and chunk.count:
            subject.count = min(chunk.count, MOST)
        self.all.append(subject)
        return subject

    def _base(self, apps: frozenset[str], sense: Sense) -> str:
        if len(apps) == 1:
            return self.meaning.name(next(iter(apps)))
        if not apps:
            return UNNAMED
        return sense.entry.name.rpartition("/")[2].replace(".", "-")

    def _another(self, position: int, chunk: Chunk | None, unit: Unit | None) -> bool:
        """Whether a noun denotes an additional VM instead of a previous one."""
        if chunk is None:
            return False
        if chunk.apart or chunk.article == "another":
            return True
        last = self.tenons[-1]
        if chunk.count:
            return last.at != position
        between = self.elements[last.at : position]
        joined = any(isinstance(e, Cut) for e in between)
        # "a 1 kHz loop and a 4 kHz loop": a second period makes a second VM.
        own = self._has_period(self.elements[max(0, position - 1) : self._past_colon(position) + 2])
        return (
            joined
            and self.periods > 1
            and (chunk.article != "definite" or self._is_distinguished(chunk, unit))
            and (chunk.article is not None or own)
            and self._has_period(between)
            and self._has_period(self.elements[max(0, position - 2) : position + 3])
        )

    def _past_colon(self, position: int) -> int:
        """The position after a noun and its colon: `slow task: 50 ms`."""
        after = next(iter(self.elements[position + 1 : position + 2]), None)
        return position + (isinstance(after, Cut) and after.word == ":")

    def _stands_for_several(self, position: int) -> bool:
        """Whether a noun follows several rates: `a 1 kHz and a 20 Hz loop`."""
        kinds = [e.kind if isinstance(e, Mark) else type(e) for e in self.elements[:position]]
        return kinds[-3:] == ["period", Cut, "period"]

    @staticmethod
    def _is_distinguished(chunk: Chunk, unit: Unit | None) -> bool:
        """Whether a definite noun has a distinguishing attribute: `the speed controller`."""
        return len(chunk.words) + len(unit.structure if unit else ()) > 1

    @staticmethod
    def _has_period(elements: Sequence[Element]) -> bool:
        return any(isinstance(e, Mark) and e.kind == "period" for e in elements)

    def _contrasts(self, position: int) -> bool:
        """Whether `one` or `the other` selects one of several equal VMs."""
        return self.tenons[-1].count > 1 and position > self.tenons[-1].at


def is_company(subject: Subject) -> bool:
    """Whether a guest accompanies everything named before it."""
    return subject.kind != "tenon" and subject.connector in g.COMPANION
