"""The elements of an objective, in the order of the text: marks, units, cuts, pronouns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tenonos.plan.english import grammar as g
from tenonos.plan.english.mark import Mark

Article = Literal["definite", "indefinite", "another"]


@dataclass
class Chunk:
    """A noun phrase: the indices of its content words."""

    words: list[int] = field(default_factory=list)
    preposition: str | None = None
    article: Article | None = None
    count: int | None = None
    acronym: bool = False
    """Whether one of its words is an acronym: CAN, IT."""
    apart: bool = False
    """Whether it is in a different VM from the preceding one."""
    repeated: bool = False
    """Whether it names the repeated action of a following rate: `an ECG sample every 4 ms`."""
    task: bool = False
    """Whether it describes a separate task: `sample at 1 kHz, ...`."""

    @property
    def weak(self) -> bool:
        """Whether it is a purpose or place rather than a means."""
        return self.preposition in g.WEAK


@dataclass
class Unit:
    """A unit: noun phrases that belong together, with their connector."""

    chunks: list[Chunk]
    connector: str | None
    negator: tuple[int, int] | None = None
    """The tokens of its negation."""
    structure: list[int] = field(default_factory=list)
    """The tokens of its words for the system itself (`grammar.STRUCTURE`): `VM`, `task`."""
    aside: bool = False
    """Whether it is in a clause about a guest system."""

    @property
    def first(self) -> int:
        """Its first token."""
        return min(i for c in self.chunks for i in c.words)

    @property
    def last(self) -> int:
        """Its last token."""
        return max(i for c in self.chunks for i in c.words) + 1

    @property
    def words(self) -> list[int]:
        """Its content words, in order."""
        return [index for chunk in self.chunks for index in chunk.words]


@dataclass(frozen=True)
class Cut:
    """A connector, or the end of a clause."""

    at: int
    word: str


@dataclass(frozen=True)
class Pronoun:
    """A word that stands for a VM named before: `another`, `one`, `the other`."""

    at: int
    new: bool
    adds: bool = False
    """Whether it denotes another VM only after a single one: `and one every 2 ms`, `and the
    other`."""


Element = Mark | Unit | Cut | Pronoun
