"""Relations between the VMs of an objective: communication and creation.

Only prepositions, word order and number are examined. The pool's texts identify the words that are
about communication or creation; only those are examined here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tenonos.plan.english import grammar as g
from tenonos.plan.english.elements import Cut, Element, Unit
from tenonos.plan.english.mark import Mark
from tenonos.plan.english.meaning import Meaning
from tenonos.plan.english.sense import Sense
from tenonos.plan.english.subjects import Subject, Subjects
from tenonos.plan.english.text import Token
from tenonos.plan.models import Direction

TO = frozenset("to toward towards into".split())
PARTS = g.SENTENCE_END | g.RELATIVE | frozenset([",", "and", "while", "but"])
"""Words that end the range of a preposition."""
SEVERAL = frozenset("vms guests partitions machines domains instances".split())
"""Generic nouns for VMs."""

_LED = g.STRONG | g.WEAK | g.SPLITTERS | g.VERBS


@dataclass(frozen=True)
class Mention:
    """The words [first, last) that name a VM."""

    first: int
    last: int
    subject: Subject


class Relations:
    """Relations between VMs in the words of an objective."""

    def __init__(self, words: Sequence[Token], mentions: Sequence[Mention]) -> None:
        self.words = words
        self.mentions = sorted(mentions, key=lambda mention: mention.first)

    def talk(self, sense: Sense, subject: Subject | None) -> tuple[Direction, Subject | None]:
        """The direction of communication of a VM, and its peer if named.

        `telemetry to Linux`; a verb without an object is bidirectional: `talks to Linux`.
        """
        directions: set[Direction] = set()
        peer = None
        first, last = self._part(sense)
        for mention in self.mentions:
            if not first <= mention.first < last:
                continue
            led = self._led_by(mention.first)
            own = mention.subject is subject
            if not own:
                peer = mention.subject
            if led in TO:
                directions.add("from" if own else "to")
            elif led == "from":
                directions.add("to" if own else "from")
        if len(directions) != 1 or self._is_bare_verb(sense):
            return "both", peer
        return directions.pop(), peer

    def is_of_any(self, sense: Sense) -> bool:
        """Whether words are about VMs in general."""
        first, last = self._part(sense)
        return any(self.words[at].word in SEVERAL for at in range(first, last))

    def _part(self, sense: Sense) -> tuple[int, int]:
        """The part of its sentence that contains a sense."""
        first, last = sense.first, sense.last
        while first > 0 and self.words[first - 1].word not in PARTS:
            first -= 1
        while last < len(self.words) and self.words[last].word not in PARTS:
            last += 1
        return first, last

    def _led_by(self, at: int) -> str:
        """The preposition, verb or connector before the noun phrase of a word."""
        before = (self.words[i].word for i in range(at - 1, -1, -1))
        return next((word for word in before if word in _LED), "")

    def _is_bare_verb(self, sense: Sense) -> bool:
        said = [
            at
            for at in range(sense.first, sense.last)
            if self.words[at].word not in _LED
            and not any(m.first <= at < m.last for m in self.mentions)
        ]
        if len(said) != 1:
            return False
        before = self.words[said[0] - 1].word if said[0] else ""
        led = before in g.RELATIVE | g.VERBS | {"to"}
        return led or self.words[said[0]].word.endswith("ing")


def distributes(words: Sequence[Token]) -> bool:
    """Whether a statement is distributive."""
    every = any(f"{a.word} {b.word}" == "every one" for a, b in pairwise(words))
    return every or any(word.word in g.DISTRIBUTING for word in words)


def made(position: int, elements: Sequence[Element], subjects: Subjects) -> Subject | None:
    """The real-time VM that is created by words at an element.

    It precedes them (`a loop created from Linux`), or follows its creator (`Linux, which starts a
    loop`).
    """
    before = _named(elements, subjects, range(position - 1, -1, -1))
    if before is not None and before.kind == "tenon":
        return before
    after = _named(elements, subjects, range(position + 1, len(elements)))
    if after is not None and after.kind == "tenon":
        return after
    return subjects.nearest_tenon(position)


def names_its_own(
    position: int, elements: Sequence[Element], words: Sequence[Token], meaning: Meaning
) -> bool:
    """Whether a pronoun denotes a VM with the following content: `a second one a shell`."""
    passed = ("count", "period", "ram", "cores")
    behind = (e for e in elements[position + 1 :] if getattr(e, "kind", "") not in passed)
    after = next(behind, None)
    if not isinstance(after, Unit) or after.chunks[0].preposition or after.negator:
        return False
    senses = meaning.unit(words, after)
    after.chunks[0].apart = any(s.kind in ("app", "guest", "capability") for s in senses)
    return after.chunks[0].apart


def put_apart(
    sense: Sense,
    position: int,
    places: Sequence[tuple[int, Sense]],
    demands: list[tuple[Sense, Subject | None]],
    subjects: Subjects,
) -> Subject | None:
    """The VM of an item in `... in one VM and ... in another`: the first, or the other."""
    if not (sense.chunk and sense.chunk.apart) or sense.kind not in ("app", "capability"):
        return None
    known = next((subject for other, subject in demands if other.chunk is sense.chunk), None)
    if known is not None and sense.kind == "capability":
        return known  # "VM two: tickless threads": two of one VM
    if subjects.tenons:
        return None if sense.kind == "app" else subjects.unnamed(position)
    if places:
        first = subjects.unnamed(places[0][0])
        demands[:] = [(other, subject or first) for other, subject in demands]
        return None if sense.kind == "app" else subjects.unnamed(position)
    return None


def told_of_guest(position: int, elements: Sequence[Element], subjects: Subjects) -> bool:
    """Whether words are in brackets after a guest system: `Linux (maps, user interface)`."""
    inside = False
    for at in range(position - 1, -1, -1):
        element = elements[at]
        if isinstance(element, Cut):
            inside = inside or element.word == "("
            if element.word in g.SENTENCE_END - {"("}:
                return False
        elif inside and isinstance(element, Unit):
            subject = subjects.of(at)
            return subject is not None and subject.kind != "tenon"
    return False


def _named(elements: Sequence[Element], subjects: Subjects, places: range) -> Subject | None:
    """The first VM named at some places, within the sentence."""
    for place in places:
        element = elements[place]
        if isinstance(element, Cut) and element.word in g.SENTENCE_END:
            return None
        if not isinstance(element, Mark) and (subject := subjects.of(place)):
            return subject
    return None
