"""Roles: counted nouns unknown to the pool that are defined later.

`One master and two workers: the master is a shell, each worker is a control loop`. A role with its
number stands for as many VMs of its definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tenonos.plan.english import grammar as g
from tenonos.plan.english.quantities import RATE, SIZE, TIME
from tenonos.plan.english.text import Token, number_at, stem, word_at

_PICKS = frozenset("the each every both all".split())
_NO_NOUNS = g.STRUCTURE | g.SPLITTERS | g.VERBS | g.ADJECTIVES | g.ADVERBS | {*TIME, *RATE, *SIZE}
_BEHIND = g.SPLITTERS | g.STRONG | g.WEAK | g.GUESTS | g.VERBS


@dataclass(frozen=True)
class Role:
    """A role, with the places of its count and of its definition."""

    value: int
    first: int
    last: int
    """The tokens [first, last) of its count."""
    at: int
    """The first of the two tokens of its later name."""


def is_purpose(pair: Sequence[Token], known: Callable[[str], bool]) -> bool:
    """Whether a noun before VMs is only their purpose: `pump VMs`."""
    if len(pair) < 2 or pair[1].word not in g.GUESTS or not pair[0].text.islower():
        return False
    plain = pair[0].is_word and pair[0].word not in g.ADJECTIVES | g.OURS | {"virtual"}
    return plain and not known(pair[0].word)


def roles(
    words: Sequence[Token], taken: Sequence[bool], known: Callable[[str], bool]
) -> Iterator[Role]:
    """The roles of an objective; `known`: whether a word is known in the pool."""
    counted: dict[str, tuple[int, int, int]] = {}
    for index, word in enumerate(words):
        if taken[index]:
            continue
        number = (1.0, index + 1) if word.word in ("a", "an") else number_at(words, index)
        if number and number[0] >= 1 and _may_be(words, taken, number[1]):
            role = (int(number[0]), index, number[1] + 1)
            counted.setdefault(stem(words[number[1]].word), role)
        if word.word in _PICKS and word_at(words, index + 2) in g.VERBS:
            earlier = counted.get(stem(word_at(words, index + 1)))
            new = not known(word_at(words, index + 1)) or _equates(words, index + 2)
            if earlier and earlier[2] <= index and new:
                yield Role(*counted.pop(stem(word_at(words, index + 1))), index)


def _equates(words: Sequence[Token], at: int) -> bool:
    """Whether a verb is a copula with a definition: `is a loop`, `is Linux`."""
    after = words[at + 1] if at + 1 < len(words) else None
    equals = word_at(words, at) in ("is", "are") and after is not None
    return equals and (after.word in g.INDEFINITE or after.text[0].isupper())


def _may_be(words: Sequence[Token], taken: Sequence[bool], at: int) -> bool:
    """Whether a noun stands alone."""
    word, after = word_at(words, at), word_at(words, at + 1)
    if not word.isalpha() or taken[at] or word in _NO_NOUNS:
        return False
    return not after or after in _BEHIND
