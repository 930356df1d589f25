"""Value type of a sense: the looked-up meaning of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tenonos.plan.english import grammar as g
from tenonos.plan.english.elements import Chunk
from tenonos.plan.english.text import Token
from tenonos.plan.retrieval.knowledge import Entry
from tenonos.plan.retrieval.retrieve import Hit

SenseKind = Literal["guest", "app", "board", "capability", "unknown", "ignored"]


@dataclass(frozen=True)
class Sense:
    """The meaning of the words [first, last)."""

    kind: SenseKind
    first: int
    last: int
    hit: Hit | None = None
    why: str = ""
    chunk: Chunk | None = None
    plural: bool = False

    @property
    def entry(self) -> Entry:
        """The entry found; there is one unless the sense is unknown or ignored."""
        assert self.hit is not None
        return self.hit.entry


def is_part(entry: Entry) -> bool:
    """Whether an entry is an internal part of the pool, not meant by everyday words."""
    part = entry.kind == "library" and not entry.by_itself
    return part or (entry.kind == "app" and not entry.keywords)


def same_sentence(words: Sequence[Token], one: Sense, other: Sense) -> bool:
    """Whether two phrases are in the same sentence."""
    between = range(min(one.last, other.last), max(one.first, other.first))
    return not any(words[index].word in g.SENTENCE_END for index in between)
