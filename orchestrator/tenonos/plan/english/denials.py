"""Denials: scope of a negation within its phrase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenonos.plan.english.elements import Chunk, Unit
from tenonos.plan.english.meaning import Meaning
from tenonos.plan.english.text import Token
from tenonos.plan.retrieval.knowledge import GUEST
from tenonos.plan.retrieval.retrieve import Hit

_JOINED = frozenset("and or nor".split())
_HAVING = frozenset("needs need uses use requires require has have wants want contains".split())


@dataclass(frozen=True)
class Denial:
    """The denied words [first, last) with their senses; none if unknown to the pool."""

    first: int
    last: int
    hits: Sequence[Hit] = ()
    presupposed: bool = False
    """Whether only an action of theirs is denied, so that they exist: `never disturbed by
    Linux`."""


def denials(unit: Unit, words: Sequence[Token], meaning: Meaning) -> Iterator[Denial]:
    """The denials of a negated phrase."""
    agents = [chunk for chunk in unit.chunks if _is_agent(chunk, unit, words, meaning)]
    lacks = len(unit.chunks) > 1 and _lacks(unit.chunks[0], unit.chunks[1], words)
    if not agents and not lacks:
        whole = sorted({*unit.words, *unit.structure})
        named = meaning.all_of(words, whole)
        if named and named[0].exactness == 1:
            yield Denial(whole[0], whole[-1] + 1, named)
            return
    for chunk, after in zip(unit.chunks, [*unit.chunks[1:], None], strict=True):
        first, last = chunk.words[0], chunk.words[-1] + 1
        if chunk in agents:
            yield Denial(first, last, presupposed=True)
            continue
        if owner := _owner(chunk, words):
            yield Denial(first, owner + 1, presupposed=True)
            continue
        if chunk is unit.chunks[0] and after is not None and _lacks(chunk, after, words):
            yield Denial(first, last, presupposed=True)
            continue
        # "never delayed by ...": the action is no name.
        if (
            chunk is not unit.chunks[0]
            and chunk.preposition == "in"
            and chunk.article == "definite"
        ):
            yield Denial(first, last)  # "no tick in the lamp's image"
            continue
        done = after is not None and after.preposition == "by" and last - first == 1
        act = done and words[first].word.endswith("ed")
        hits = () if act else meaning.all_of(words, chunk.words)
        named = None if act or hits else _name_in(chunk, words, meaning)
        yield named or Denial(first, last, hits)


def _name_in(chunk: Chunk, words: Sequence[Token], meaning: Meaning) -> Denial | None:
    """The name of a capability within a denied phrase: `shell magic`."""
    for at in chunk.words:
        hits = [h for h in meaning.all_of(words, [at]) if h.exactness == h.evidence == 1]
        if hits and hits[0].entry.kind == "capability" and not hits[0].entry.name.startswith(GUEST):
            return Denial(at, at + 1, hits)
    return None


def _lacks(chunk: Chunk, after: Chunk, words: Sequence[Token]) -> bool:
    """Whether the first noun exists without the second: `none of its threads needs a lock`."""
    between = {words[at].word for at in range(chunk.words[-1] + 1, after.words[0])}
    return after.preposition is None and bool(between & _HAVING)


def _owner(chunk: Chunk, words: Sequence[Token]) -> int | None:
    """The existing owner of a denied object: `must not push the regulator's data out`."""
    owners = [at for at in chunk.words[:-1] if words[at].word.endswith("'s")]
    return owners[-1] if owners and chunk.article == "definite" else None


def _is_agent(chunk: Chunk, unit: Unit, words: Sequence[Token], meaning: Meaning) -> bool:
    """Whether a guest system is the agent of the denied action."""
    follows = chunk is not unit.chunks[0] or unit.connector in _JOINED
    if chunk.preposition != "by" or not follows:
        return False
    hits = meaning.all_of(words, chunk.words)
    return bool(hits) and hits[0].entry.name.startswith(GUEST)
