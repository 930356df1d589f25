"""Coined names: terms of a help text by which a library without keywords is found.

A library dropped into the pool has a name, which objectives need not use, and a help text. Words of
the help text that occur in no other text of the pool identify it: *I2C*, *flash*, *stepper*. Such a
word is a name if it is written as one (capitals, digits) or occurs in the first sentence; so is
each noun phrase that contains one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from tenonos.plan.english import grammar as g
from tenonos.plan.english.text import STOP, words_of

LONGEST = 4
"""The most words of a name."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_PART = re.compile(r"[^\s,;:.!?()]+|[,;:.!?()]")
_INNER = re.compile(r"\w[A-Z0-9]")
_VERB = re.compile(r"[^isu]s$")
_CUTS = STOP | g.SPLITTERS | g.WEAK | g.STRONG | g.DEFINITE | g.INDEFINITE | g.VERBS | g.ADVERBS


def coined(text: str, known: Set[str]) -> tuple[str, ...]:
    """The names a help text coins, in its order; `known` are the spellings of all other texts."""
    names: dict[str, None] = {}
    for number, sentence in enumerate(_SENTENCE.split(text)):
        for opens, phrase in _phrases(sentence):
            new = [word for word in phrase if not spellings(word) <= known]
            if not new:
                continue
            if 1 < len(phrase) <= LONGEST:
                names[" ".join(phrase)] = None
            verb = phrase[0] if opens and len(phrase) > 1 and _VERB.search(phrase[0]) else None
            for word in new:
                if _INNER.search(word) or (number == 0 and word != verb):
                    names[word] = None
    return tuple(names)


def spellings(text: str) -> frozenset[str]:
    """The words of a text for comparison; case is significant: CAN, can."""
    words = re.findall(r"[^\W_]+", text)
    shouted = (word for word in words if len(word) > 1 and word.isupper())
    common = (word for word in words if not (len(word) > 1 and word.isupper()))
    return frozenset(shouted) | frozenset(words_of(" ".join(common)))


def _phrases(sentence: str) -> Iterator[tuple[bool, list[str]]]:
    """The runs of content words between function words, and whether a verb may begin one: at the
    start, after a colon or a relative pronoun."""
    opens, phrase = True, []
    for part in _PART.findall(sentence):
        named = len(part) > 1 and part.isupper()
        if part[0].isalnum() and (named or part.lower() not in _CUTS):
            phrase.append(part)
            continue
        if phrase:
            yield opens, phrase
        opens = part == ":" or part.lower() in g.RELATIVE
        phrase = []
    if phrase:
        yield opens, phrase
