"""Corrections of quantities: `two cores... make that three`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tenonos.plan.english.mark import Mark
from tenonos.plan.english.quantities import quantity_at
from tenonos.plan.english.text import Token, number_at

_SAID = r"(?:no|sorry|pardon|correction|scratch that|or rather|i mean|make (?:that|it)|wait)"
CORRECTION = re.compile(
    rf"\s*[?!.…,;:–—(-]+\s*(?:oh )?{_SAID}(?:[,:]? {_SAID})*[,:]? ", re.IGNORECASE
)
_OF_RATE = frozenset(("period", "deadline", "jitter", "wcet", "tick"))
_KINDS = {
    "rate": _OF_RATE,
    "time": _OF_RATE,
    "size": frozenset(("ram", "image")),
    "count": frozenset(("cores", "count", "vms")),
}


def corrected(marks: Sequence[Mark], words: Sequence[Token], text: str) -> list[Mark]:
    """The marks, each quantity with its last value."""
    found = list(marks)
    for said in CORRECTION.finditer(text):
        first = next((i for i, word in enumerate(words) if word.start >= said.end()), len(words))
        before = next((i for i, word in enumerate(words) if word.end > said.start()), first)
        old = next((m for m in found if m.last == before and m.value is not None), None)
        new = _again(old, words, first) if old else None
        if old is None or new is None:
            continue
        value, last = new
        found = [m for m in found if m.last <= old.first or m.first >= last]
        found.append(replace(old, value=value, until=last))
        found.append(Mark("idiom", old.last, last))
    return found


def _again(old: Mark, words: Sequence[Token], at: int) -> tuple[int, int] | None:
    """The value at a token, by default in the unit of the replaced one, and its end."""
    quantity = quantity_at(words, at) if at < len(words) else None
    number, first = number_at(words, at) if quantity else None, number_at(words, old.first)
    if quantity is None or number is None:
        return None
    if quantity.dimension == "count" and first:
        alike = quantity_at([*words[at : number[1]], *words[first[1] : old.last]], 0)
        if alike and old.kind in _KINDS[alike.dimension]:
            return alike.value, number[1]
    return (quantity.value, quantity.last) if old.kind in _KINDS[quantity.dimension] else None
