"""Ticks: `a tick of 1 ms` is the system clock, `ticks every 1 ms` a task."""

from __future__ import annotations

from collections.abc import Sequence

from tenonos.plan.english import grammar as g
from tenonos.plan.english.text import Token, word_at

TICK = "tick"
_MEASURES = frozenset("rate frequency period interval length".split())
"""Nouns for attributes of a tick."""
_OF = frozenset("of at is = : every with ( , being to set".split())
"""Words between a tick and its quantity."""
_KINDS = frozenset("system kernel scheduler timer clock os rtos fixed periodic regular".split())
"""Words for kinds of ticks."""
_BEFORE = (
    (
        g.INDEFINITE
        | g.DEFINITE
        | g.SPLITTERS
        | g.WEAK
        | g.STRONG
        | g.ADJECTIVES
        | _KINDS
        | {"", "-"}
    )
    - g.RELATIVE
    - {"to", "no"}
)
"""Words before the noun `tick`; after others it is a verb."""
REACH = 4
"""The most words between a tick and its quantity."""


def is_tick(words: Sequence[Token], first: int, last: int) -> bool:
    """Whether a rate or time [first, last) belongs to the noun `tick`."""
    return _follows(words, last) or _precedes(words, first)


def _follows(words: Sequence[Token], at: int) -> bool:
    """`a 1 kHz system tick`."""
    while word_at(words, at) in _KINDS | {"-"}:
        at += 1
    return word_at(words, at) == TICK


def _precedes(words: Sequence[Token], first: int) -> bool:
    """`a tick of 1 ms`, `tick rate: 100 Hz`."""
    for at in range(first - 1, max(first - 1 - REACH, -1), -1):
        word = word_at(words, at)
        if word == TICK:
            return word_at(words, at - 1) in _BEFORE
        if word not in _OF | _MEASURES:
            return False
    return False
