"""Gist: joint meaning of several words of a sentence, in any order.

"Threads never touch the table at the same time" demands a mutex without naming it. A help text
lists such words in a paragraph `Phrases:` of word groups, such as

    never|nobody touch|modify (thread|task) same time

A group matches a sentence with a word of each place, in any order, close to each other. Words in
brackets are matched only: they keep their own meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tenonos.plan.english import grammar as g
from tenonos.plan.english.text import Token, stem
from tenonos.plan.retrieval.knowledge import GUEST, Entry

REACH = 5
"""The most content words between the words of a group, in total."""
SIZES = range(1, 4)
"""Words of names that a gist must not span."""
SHOWN = 6
"""The most positions of a word in a sentence to try."""

_SMALL = g.INDEFINITE | g.DEFINITE | g.SPLITTERS | g.WEAK | g.STRONG | {"of", "is", "are", "be"}
NEGATORS = frozenset("no not never nobody none without cannot neither nor".split())

APART = frozenset((stem("without"), stem("no")))
"""Words that separate the text before and after them."""

_DENIED = frozenset(("not", stem("never")))
"""Negations of the following verb."""


@dataclass(frozen=True)
class Group:
    """A group of words with the joint meaning of an entry."""

    entry: Entry
    places: tuple[frozenset[str], ...]
    """The alternative stems of each place."""
    heard: tuple[bool, ...]
    """The places in brackets."""
    denies: bool
    """Whether a negation is one of its places."""


@dataclass(frozen=True)
class Gist:
    """A match of a group in a sentence."""

    entry: Entry
    words: tuple[int, ...]
    """Its tokens, in order."""
    first: int
    last: int
    """The tokens [first, last) of the match."""
    rank: tuple[bool, int, int]
    """Its weight: of overlapping gists the highest counts."""
    denied: bool = False
    """Whether a negation is between its words: `interrupts must not come through ...`."""


class Gists:
    """The word groups of a pool's entries."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        entries = list(entries)
        self._names = {
            tuple(words): entry
            for entry in entries
            for name in entry.keywords
            if len(words := [stem(word) for word in name.lower().split()]) == 2
        }
        apps = {entry.symbol for entry in entries if entry.kind == "app"}
        self._called = {
            name: entry
            for entry in entries
            # Nouns for tasks occur together with demands on them.
            if entry.kind == "capability"
            and apps.isdisjoint(entry.providers)
            and not entry.name.startswith(GUEST)
            for keyword in entry.keywords
            if len(name := tuple(stem(word) for word in keyword.lower().split())) in SIZES
        }
        self._said = {
            entry.symbol: frozenset(re.findall(r"\w+", " ".join(entry.phrases).lower()))
            for entry in entries
        }
        """The words of each entry's groups, verbatim."""
        self.groups = [_group(entry, said) for entry in entries for said in entry.phrases]

    def found(self, words: Sequence[Token], taken: Sequence[bool]) -> list[Gist]:
        """The matches in all sentences, without overlaps and without taken words."""
        gists: list[Gist] = []
        for first, last in sentences(words, taken):
            stems = [_stem(words[index]) for index in range(first, last)]
            met = [m for group in self.groups if (m := _met(group, stems, first))]
            met = [m for m in met if not self._halves(m, words, range(first, last - 1))]
            met = [m for m in met if not self._swallows(m, stems, first)]
            for gist in sorted(met, key=lambda gist: gist.rank, reverse=True):
                if not any(_overlap(gist, other) for other in gists):
                    gists.append(gist)
        return sorted(gists, key=lambda gist: gist.words)

    def _swallows(self, gist: Gist, stems: Sequence[str], first: int) -> bool:
        """Whether another name is between the words of a gist, without a word of it used: `needs
        only semaphores signalled from an interrupt`."""
        inside = range(gist.words[0] + 1, gist.words[-1])
        for at in inside:
            for size in SIZES:
                name = tuple(stems[at - first : at - first + size])
                part = set(range(at, at + size))
                whole = part <= set(inside) and not part & set(gist.words)
                if whole and self._called.get(name, gist.entry) is not gist.entry:
                    return True
        return False

    def _halves(self, gist: Gist, words: Sequence[Token], inside: range) -> bool:
        """Whether a gist uses half of another entry's name as another form of a word, such as
        `float` in `floating point`."""
        said = self._said[gist.entry.symbol]
        for at in inside:
            half = {at, at + 1} & set(gist.words)
            name = self._names.get((stem(words[at].word), stem(words[at + 1].word)), gist.entry)
            other = any(words[index].word not in said for index in half)
            if len(half) == 1 and other and name is not gist.entry:
                return True
        return False


def sentences(words: Sequence[Token], taken: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The ranges between ends of sentences and taken words."""
    first = 0
    for index in range(len(words) + 1):
        ends = (
            index == len(words)
            or taken[index]
            or words[index].word in g.SENTENCE_END
            or _concludes(words, index)
        )
        if ends:
            if first < index:
                yield first, index
            first = index + 1


def _concludes(words: Sequence[Token], at: int) -> bool:
    """Whether what follows is set against what was said, or drawn from it: `..., but no ...`,
    `..., so keep ...`, not `so that`.
    """
    after = words[at + 1].word if at + 1 < len(words) else ""
    if words[at].word == "but":
        return at > 0 and words[at - 1].text == ","
    return words[at].word == "so" and at > 0 and words[at - 1].text == "," and after != "that"


def _group(entry: Entry, said: str) -> Group:
    """The word group of a text: `produces|sends (Linux|guest) data`."""
    found = re.findall(r"\(([^()]*)\)|([^\s()]+)", said)
    texts = [heard or taken for heard, taken in found]
    places = tuple(
        frozenset(_gist_stem(word) for word in text.lower().split("|")) for text in texts
    )
    denies = any(place & NEGATORS for place in places)
    return Group(entry, places, tuple(bool(heard) for heard, _ in found), denies)


def _stem(token: Token) -> str:
    word = token.word.removesuffix("'s")
    return "not" if word.endswith("n't") or word == "cannot" else _gist_stem(word)


def _gist_stem(word: str) -> str:
    """A stem that distinguishes agent and action: a controller is not controlled."""
    agent = len(word) > 6 and word.endswith(g.AGENT)
    return stem(word) + ("+" if agent and not stem(word).endswith(g.AGENT) else "")


def _met(group: Group, stems: Sequence[str], offset: int) -> Gist | None:
    """The narrowest place where a group is met."""
    places = [[i for i, word in enumerate(stems) if word in place] for place in group.places]
    if not all(places):
        return None
    chosen = min(_choices(places), key=lambda c: max(c) - min(c), default=None)
    if chosen is None:
        return None
    first, last = min(chosen), max(chosen) + 1
    if ":" in stems[first:last] or (not group.denies and not APART.isdisjoint(stems[first:last])):
        return None  # "threads and a queue, without POSIX"
    denied = not group.denies and not _DENIED.isdisjoint(stems[first:last])
    between = sum(_counts(stems[i]) for i in range(first, last) if i not in chosen)
    if between > REACH:
        return None
    taken = sorted(i + offset for i, heard in zip(chosen, group.heard, strict=True) if not heard)
    rank = (group.denies, len(chosen), -between)
    return Gist(group.entry, tuple(taken), first + offset, last + offset, rank, denied)


def _choices(places: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every way to give each place a word of its own."""
    if not places:
        yield ()
        return
    for rest in _choices(places[1:]):
        for index in places[0][:SHOWN]:
            if index not in rest:
                yield (index, *rest)


def _counts(word: str) -> bool:
    """Whether a word between others sets them apart: no sign, article or preposition does."""
    return word[:1].isalpha() and word not in _SMALL


def _overlap(one: Gist, other: Gist) -> bool:
    return one.first < other.last and other.first < one.last
