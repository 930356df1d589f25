"""Quantities of an objective in any of the reader's languages, by the grammar of numbers.

The grammar reads English. Words of other languages are replaced with its words, each at its own
place; what it does not know is read here: numbers of cores, priorities, and rates in the order of
`毎秒100回`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tenonos.plan.english.quantities import CORES, Quantity, listed_at, quantity_at, span_at
from tenonos.plan.english.text import NUMBERS, Token, number_at, word_at
from tenonos.plan.reader.translation import ORDINALS, WIDE, translated

Dimension = Literal["rate", "time", "size", "count", "cpu"]

_NAMED = CORES | {"#"}
_JOINED = frozenset([",", "and", "&", "/", "und", "et", "y", "e", "、", "と", "和"])
_TO = frozenset(["-", "–", "to", "bis", "à", "a", "~", "〜", "到"])
_IS = frozenset([":", "=", "of", "is", "von", "de", "は", "が", "为", "是"])
"""Words between a priority and its number."""
_AFTER_SPAN = frozenset(["に", "で", "内", "中", "里"])
_FREE = frozenset(["libre", "disponible"])
"""Words after a core that has no number: `le premier cœur libre`."""
_NUMBERED = frozenset(["号", "番"])
_REACH = 4
"""The most characters between a time and its count: `每秒采样100次`."""


@dataclass(frozen=True, slots=True)
class Found:
    """A quantity, and the characters [start, end) that state it."""

    dimension: Dimension
    value: int | tuple[int, ...]
    start: int
    end: int


def quantities(text: str) -> list[Found]:
    """Every quantity of a text in order; the longest at each place."""
    words = translated(text)
    named = list(_named(words))
    found = [each for each, _ in named]
    found += _amounts(words, {at for _, inside in named for at in inside})
    found.sort(key=lambda each: (each.start, each.start - each.end))
    kept: list[Found] = []
    for each in found:
        if each.dimension == "cpu" or not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _amounts(words: Sequence[Token], taken: set[int]) -> Iterator[Found]:
    at = 0
    while at < len(words):
        several = [] if at in taken else listed_at(words, at)
        one = None if at in taken else _reversed(words, at) or quantity_at(words, at)
        for each in several or ([one] if one else []):
            start, end = words[each.first].start, words[each.last - 1].end
            yield Found(each.dimension, each.value, start, end)
        last = several[-1].last if several else one.last if one else at + 1
        at = max(last, at + 1)


def _reversed(words: Sequence[Token], at: int) -> Quantity | None:
    """A rate with its time first: `毎秒100回`, `1秒に10回`."""
    led = words[at].word in ("per", "each", "every")
    span = span_at(words, at + led) if led or words[at].is_number else None
    if span is None:
        return None
    index = span[1] + (word_at(words, span[1]) in _AFTER_SPAN)
    for _ in range(_REACH if led else 0):
        index += word_at(words, index) >= WIDE
    number = number_at(words, index) if index < len(words) else None
    if number is None or word_at(words, number[1]) != "times":
        return None
    joined = words[index].start == words[index - 1].end
    value = Fraction(str(number[0]))
    if not joined or value <= 0 or (value == 1 and span[1] > at + led + 1):
        return None  # "每20毫秒一次" is a time
    return Quantity("rate", max(round(span[0] / value), 1), at, number[1] + 1)


def _named(words: Sequence[Token]) -> Iterator[tuple[Found, range]]:
    """The numbers of cores and priorities, with their tokens: `core 3`, `cores 0 to 2`, `the third
    core`, `2号核`, `priority 0`."""
    for at, token in enumerate(words):
        value, after = _number(words, at), word_at(words, at + 1)
        if token.word in _NAMED:
            index, values = _listed(words, at + 1)
            if values and not _has_unit(words, at + 1):
                yield _found("cpu", tuple(values), words, at + 1, index)
        elif token.word == "priority":
            first = at + 1 + (after in _IS)
            value = _number(words, first)
            if value is not None and not _has_unit(words, first):
                yield _found("count", value, words, first, first + 1)
        elif after in CORES and token.word in ORDINALS and word_at(words, at + 2) not in _FREE:
            yield _found("cpu", (ORDINALS[token.word],), words, at, at + 1)
        elif value and word_at(words, at - 1) == "第" and after in CORES:
            yield _found("cpu", (value - 1,), words, at, at + 1)
        elif value is not None and after in _NUMBERED and word_at(words, at + 2) in CORES:
            yield _found("cpu", (value,), words, at, at + 1)


def _found(
    dimension: Dimension,
    value: int | tuple[int, ...],
    words: Sequence[Token],
    first: int,
    last: int,
) -> tuple[Found, range]:
    start, end = words[first].start, words[last - 1].end
    return Found(dimension, value, start, end), range(first, last)


def _listed(words: Sequence[Token], index: int) -> tuple[int, list[int]]:
    """A list of numbers all in digits or all in words, and the index after it."""
    values: list[int] = []
    first = index
    while (value := _number(words, index)) is not None:
        values.append(value)
        link, after = word_at(words, index + 1), _number(words, index + 2)
        if after is None or words[index + 2].is_number != words[first].is_number:
            return index + 1, values
        if link in _TO and value < after < value + 64:
            values.extend(range(value + 1, after))
        elif link not in _JOINED or _has_unit(words, index + 2):
            return index + 1, values
        index += 2
    return index, values


def _has_unit(words: Sequence[Token], at: int) -> bool:
    """Whether a number is a time, a rate or a size: `core 3, 500 us`."""
    found, number = quantity_at(words, at), number_at(words, at)
    alone = number is not None and number[1] == at + 1
    return alone and found is not None and found.dimension != "count"


def _number(words: Sequence[Token], at: int) -> int | None:
    word = word_at(words, at)
    value = int(word) if word.isdecimal() and len(word) < 4 else NUMBERS.get(word)
    return value if value is not None and value < 1024 else None
