"""Verbs with rates, which name a task only without a noun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenonos.plan.english import grammar as g
from tenonos.plan.english.elements import Cut, Element, Unit
from tenonos.plan.english.mark import Mark
from tenonos.plan.english.quantities import RATE, quantity_at
from tenonos.plan.english.text import Token
from tenonos.plan.models import Plan

_NAMED = frozenset("task tasks job jobs thread threads".split())
_LISTS = frozenset(", and or at &".split())
"""Words between rates of one noun: `sampling at 1 kHz and at 2 kHz`."""
_CLAUSES = frozenset((None, ",", ";", ".", "and", "but", "while", "whilst"))
"""Words that begin a clause with its own subject."""


def does_by_itself(
    mark: Mark, elements: Sequence[Element], words: Sequence[Token], starts: Mapping[int, Mark]
) -> bool:
    """Whether the last phrase is a verb with its own rate beside others.

    `Sample at 1 kHz, control at 100 Hz` are two tasks; `a loop, sampled at 1 kHz` is one.
    """
    unit, before = elements[-1], elements[-2] if len(elements) > 1 else None
    periods = [other for other in starts.values() if other.kind == "period"]
    if mark.kind != "period" or len(periods) < 2 or not isinstance(unit, Unit):
        return False
    if not (before is None or isinstance(before, Cut)) or len(unit.words) != 1:
        return False
    chunk, word = unit.chunks[0], words[unit.words[0]].word
    if chunk.preposition or chunk.article or word not in g.RATE_VERBS or word.endswith(("ed", "s")):
        return False
    later = [other.first for other in periods if other.first >= mark.last]
    return not later or any(w.word not in _LISTS for w in words[mark.last : min(later)])


def does_more(position: int, elements: Sequence[Element], words: Sequence[Token]) -> bool:
    """Whether a clause has its own subject and rate: `and the tank is weighed every 5 s`."""
    unit = elements[position]
    if not isinstance(unit, Unit) or unit.connector not in _CLAUSES or unit.structure:
        return False
    following = [e for e in elements[position + 1 : position + 3] if not _joins(e)]
    rated = bool(following) and isinstance(following[0], Mark) and following[0].kind == "period"
    noun = next((c for c in unit.chunks if c.preposition is None and c.article), None)
    if not rated or noun is None:
        return False
    own = noun.words[0] == 0 or words[noun.words[0] - 1].word not in g.PRONOUNS
    return own and not any(g.PERIOD.search(words[index].word) for index in noun.words)


def _joins(element: Element) -> bool:
    """Whether a rate belongs to the preceding element: `updated with a period of 16 ms`."""
    return isinstance(element, Cut) and element.word == "with"


def is_rated(words: Sequence[Token], first: int, last: int) -> bool:
    """Whether a rate is adjacent to words: `fan control (5 Hz)`, `a 100 Hz valve control`."""
    if first and words[first - 1].word in RATE:
        return True
    for at in range(last, min(last + 6, len(words))):
        found = quantity_at(words, at)
        if found is not None:
            return found.dimension in ("rate", "time")
        if words[at].is_word and words[at].word not in g.VERBS | g.RATE_VERBS | {"at"}:
            return words[at].word in ("every", "each")
    return False


def suffers(words: Sequence[Token], inside: Sequence[int], at: int) -> bool:
    """Whether the last of some words is a verb with an object: `servo drives the cutter`."""
    after = words[at + 1].word if at + 1 < len(words) else ""
    verb = at == inside[-1] and words[at].word.endswith("s") and words[at].text.islower()
    return verb and after in g.DEFINITE | g.INDEFINITE


def is_thing(words: Sequence[Token], at: int) -> bool:
    """Whether a participle that ends its phrase is a noun: `in a wheel bearing`."""
    after = words[at + 1].word if at + 1 < len(words) else ","
    return words[at].word.endswith("ing") and after in g.SPLITTERS


def names_any(words: Sequence[Token]) -> bool:
    """Whether a task is named as such."""
    return any(word.word in _NAMED for word in words)


def names_more(words: Sequence[Token]) -> bool:
    """Whether additional tasks are named within a VM: `a loop with two tasks`."""
    joined = False
    for word in words:
        joined = word.word == "with" or (joined and word.word not in g.SENTENCE_END | {","})
        if word.word in g.TASKS and not joined:
            return True
    return False


def hurried(plan: Plan) -> bool:
    """Whether a VM has several periods."""
    timed = [item for item in plan.items if item.kind == "period" and item.image]
    images = [image for image, _ in {(item.image, item.value) for item in timed}]
    return len(set(images)) < len(images)
