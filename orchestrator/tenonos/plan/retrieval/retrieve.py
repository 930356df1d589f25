"""Retrieval: which of the pool's texts a phrase of the objective means.

Three rankings of the entries are fused by reciprocal rank: BM25 over stemmed words,
TF-IDF over character n-grams of the whole text, and the *evidence*, the share of the
phrase's weight that an entry covers. Only entries with evidence above a threshold
count: a rank alone always has a first place, even for nonsense.

A word that occurs nowhere in the pool is compared by character n-grams with those that
do, so that a typing error still finds its word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property

from tenonos.plan.english.gist import Gists
from tenonos.plan.english.text import STOP, stem, words_of
from tenonos.plan.retrieval.knowledge import Entry
from tenonos.plan.retrieval.rankings import Grams, Words

THRESHOLD = 0.57
"""Threshold of evidence; tuned on the objectives of the tests."""
AMPLE, NEAR, NEARER = 0.8, 0.4, 0.6
"""Evidence that is sufficient by itself; else the required similarity of a title, for several words
and for one.

"stack" must not mean a network stack, nor "wheel speed" the control of a motor's speed.
"""
LIKENESS, RATIO = 0.5, 0.85
"""Thresholds of n-gram cosine and of common letters in order, for an unknown word to match a known
one."""
HEADS = 4
"""The number of names with the same last word, from which on a new one is recognised."""
FUSION = 60
"""The constant of reciprocal-rank fusion, at the value customary since Cormack et al. 2009."""
TITLE, LEAD, BODY = 1.0, 0.7, 0.45
"""Weight of a word for an entry: in its name or keywords, its first sentence, the rest."""


@dataclass(frozen=True)
class Hit:
    """An entry that a phrase may mean."""

    entry: Entry
    evidence: float
    exactness: float
    """The share of the entry's nearest name, prompt or keyword that the phrase covers."""
    score: float
    """The fused score, which only orders hits."""
    covered: frozenset[int]
    """The words of the phrase that it covers."""
    matched: tuple[str, ...]
    """The words of the entry that matched."""
    path: tuple[tuple[str, str, str], ...] = ()
    """Relations of the Lib-Graph from the phrase to it, if not by its own text."""


class Retriever:
    """The index of a pool's entries, built on first use, with a cache of lookups."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        self._fields = [_fields(entry) for entry in self.entries]
        self._alike: dict[str, tuple[str, float]] = {}
        self._found: dict[tuple[str | float, ...], list[Hit]] = {}
        self._titles = [_titles(entry) for entry in self.entries]
        self._spellings = [f" {' '.join(words_of(entry.text))} " for entry in self.entries]

        self._names = [_names(entry) for entry in self.entries]

    @cached_property
    def gists(self) -> Gists:
        """The word groups of the entries."""
        return Gists(self.entries)

    def search(self, words: Sequence[str], threshold: float = THRESHOLD) -> list[Hit]:
        """The entries a phrase may mean, best first; empty if none is near enough."""
        key = (*words, threshold)
        if key not in self._found:
            self._found[key] = self._search(words, threshold)
        return self._found[key]

    def called_by_lack(self, words: Sequence[str]) -> Entry | None:
        """The entry named by the absence of something, as tickless by "no tick"."""
        asked = words_of(" ".join(words))
        for entry in self.entries:
            if any(words_of(absence) == asked for absence in entry.absences):
                return entry
        return None

    def tells(self, entry: Entry, words: Sequence[str]) -> bool:
        """Whether all content words are in an entry's texts."""
        fields = self._fields[self.entries.index(entry)]
        wanted = [stem(word) for word in words if self._matters(word)]
        return bool(wanted) and all(word in fields for word in wanted)

    def knows(self, word: str) -> bool:
        """Whether a word has a meaning by itself."""
        return bool(self.search([word]))

    def headed(self, word: str) -> list[Entry]:
        """The capabilities with several names that end in a word: a new name may be another one."""
        ending = f" {word}"
        known = (entry for entry in self.entries if entry.kind == "capability")
        return [e for e in known if sum(n.endswith(ending) for n in e.keywords) >= HEADS]

    def ranked(self, text: str) -> list[Entry]:
        """All entries by BM25 alone, best first, for comparison."""
        scores = self._by_words.scores(words_of(text))
        return [self.entries[i] for i in sorted(range(len(scores)), key=lambda i: -scores[i])]

    def _search(self, words: Sequence[str], threshold: float) -> list[Hit]:
        wanted = [stem(word.removesuffix("'s")) for word in words]
        known = [
            self._known(word, said.lower()) if self._matters(word) else (word, 0.0)
            for word, said in zip(wanted, words, strict=True)
        ]
        total = sum(self._weight(word) for word, _ in known if self._matters(word))
        if not total:
            return []
        evidence = [self._evidence(known, fields, total, wanted) for fields in self._fields]
        named = [not names.isdisjoint(wanted) for names in self._names]
        spelled = [named[i] or _spells(text, wanted) for i, text in enumerate(self._spellings)]
        whole = frozenset(range(len(wanted)))
        for index, (value, covered, matched) in enumerate(evidence):
            if spelled[index]:
                covered = whole if named[index] else covered
                evidence[index] = (max(value, threshold), covered, matched)
        passing = [index for index, (value, *_) in enumerate(evidence) if value >= threshold]
        if not passing:
            return []
        said = frozenset(word for word, _ in known if self._matters(word))
        hits = []
        for i in passing:
            value, covered, matched = evidence[i]
            exactness = max((_likeness(said, title) for title in self._titles[i]), default=0.0)
            if spelled[i]:
                exactness = max(exactness, NEARER)
            needed = NEARER if len(said) == 1 else 0.0 if value >= AMPLE else NEAR
            if exactness >= needed:
                hits.append(Hit(self.entries[i], round(value, 4), exactness, 0.0, covered, matched))
        # Equal evidence is decided by the nearer title, then by availability; the rankings only
        # break ties.
        if len({_clear(hit) for hit in hits}) < len(hits):
            fused = self._fused(words, known, evidence, passing)
            score = {self.entries[i].symbol: value for i, value in fused.items()}
            hits = [replace(hit, score=score[hit.entry.symbol]) for hit in hits]
        return sorted(hits, key=lambda hit: (_clear(hit), -hit.score))

    def _fused(
        self,
        words: Sequence[str],
        known: Sequence[tuple[str, float]],
        evidence: Sequence[tuple[float, frozenset[int], tuple[str, ...]]],
        passing: Sequence[int],
    ) -> dict[int, float]:
        rankings = [
            self._by_words.scores(word for word, likeness in known if likeness),
            self._by_grams.scores(" ".join(words)),
            [value for value, *_ in evidence],
        ]
        return _fuse(rankings, passing)

    def _evidence(
        self,
        known: Sequence[tuple[str, float]],
        fields: dict[str, float],
        total: float,
        wanted: Sequence[str],
    ) -> tuple[float, frozenset[int], tuple[str, ...]]:
        value, covered, matched = 0.0, set(), []
        for index, (word, likeness) in enumerate(known):
            weight = fields.get(word, 0.0) * likeness
            if weight:
                value += weight * self._weight(word)
                covered.add(index)
                matched.append(word)
        return value / total, frozenset(covered), tuple(matched)

    @staticmethod
    def _matters(word: str) -> bool:
        return word not in STOP and any(c.isalnum() for c in word)

    def _weight(self, word: str) -> float:
        """The inverse document frequency; a word never seen weighs like the rarest."""
        count = self._frequency.get(word, 0)
        return math.log(1 + len(self.entries) / (count or 1))

    @cached_property
    def _frequency(self) -> dict[str, int]:
        count: dict[str, int] = {}
        for fields in self._fields:
            for word in fields:
                count[word] = count.get(word, 0) + 1
        return count

    def _known(self, word: str, said: str) -> tuple[str, float]:
        """The word of the pool that a word is, by its stem, and how alike the two are."""
        if word in self._frequency:
            return word, 1.0
        if len(said) < 4 or word in STOP:
            return word, 0.0
        if said not in self._alike:
            self._alike[said] = self._likest(word, said)
        return self._alike[said]

    def _likest(self, word: str, said: str) -> tuple[str, float]:
        """The word of the pool most like a word that is not in it, if near enough: as they are
        spelled, since stems are more alike than words: "tracker" is no "trace".
        """
        wanted = _grams(said)
        likeness, best = max(
            ((_cosine(wanted, grams), known) for known, grams in self._word_grams.items()),
            default=(0.0, said),
        )
        ratio = SequenceMatcher(None, said, best, autojunk=False).ratio()
        alike = likeness >= LIKENESS and ratio >= RATIO
        near = alike and best[0] == said[0] and abs(len(said) - len(best)) < 2
        return (stem(best), ratio) if near else (word, 0.0)

    @cached_property
    def _word_grams(self) -> dict[str, frozenset[str]]:
        texts = (" ".join((e.name, e.prompt, e.text, *e.keywords)) for e in self.entries)
        known = {word for text in texts for word in re.findall(r"[^\W_]{4,}", text.lower())}
        return {word: _grams(word) for word in sorted(known) if stem(word) in self._frequency}

    @cached_property
    def _by_words(self) -> Words:
        return Words([_bag(fields) for fields in self._fields])

    @cached_property
    def _by_grams(self) -> Grams:
        return Grams([" ".join((e.name, e.prompt, e.text, *e.keywords)) for e in self.entries])


def _fields(entry: Entry) -> dict[str, float]:
    """The words of an entry with how much each says about it."""
    lead, _, body = entry.text.partition(". ")
    title = " ".join((entry.name, entry.prompt, *entry.keywords))
    fields: dict[str, float] = {}
    for text, weight in ((body, BODY), (lead, LEAD), (title, TITLE)):
        fields |= dict.fromkeys(words_of(text), weight)
    return fields


def _spells(text: str, wanted: Sequence[str]) -> bool:
    """Whether a help text contains a phrase of several words verbatim, as a name."""
    said = [word for word in wanted if word not in STOP]
    return len(said) > 1 and f" {' '.join(said)} " in text


def _grams(word: str) -> frozenset[str]:
    """The n-grams of one to three characters of a word, with marked ends."""
    bounded = f" {word} "
    return frozenset(bounded[i : i + n] for n in (1, 2, 3) for i in range(len(bounded) - n + 1))


def _cosine(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / math.sqrt(len(a) * len(b))


def _titles(entry: Entry) -> list[frozenset[str]]:
    """The words of each name of an entry, without that of a crate, often a common word (`map`)."""
    own = [] if entry.kind == "library" else [entry.name.rpartition("/")[2]]
    names = (entry.name, *own, entry.prompt, *entry.keywords)
    return [frozenset(words) for name in names if (words := words_of(name))]


def _names(entry: Entry) -> frozenset[str]:
    """The single words that mean an entry in any context."""
    words = (words_of(name) for name in entry.keywords if entry.by_itself)
    return frozenset(own[0] for own in words if len(own) == 1)


def _likeness(said: frozenset[str], title: frozenset[str]) -> float:
    """The Jaccard index of two sets of words."""
    return round(len(said & title) / len(said | title), 4)


def _clear(hit: Hit) -> tuple[float, float, bool, int]:
    """The sort key of hits before their rank: of equals, a capability first."""
    entry = hit.entry
    part = ("capability", "app", "board", "library").index(entry.kind)
    return (-round(hit.evidence, 1), -hit.exactness, not entry.available, part)


def _bag(fields: dict[str, float]) -> list[str]:
    """The words of an entry for BM25, those of its title twice."""
    return [word for word, weight in fields.items() for _ in range(2 if weight == TITLE else 1)]


def _fuse(rankings: Sequence[Sequence[float]], passing: Sequence[int]) -> dict[int, float]:
    """Reciprocal-rank fusion over the passing entries."""
    fused = dict.fromkeys(passing, 0.0)
    for scores in rankings:
        ordered = sorted(passing, key=lambda index: -scores[index])
        for rank, index in enumerate(ordered, start=1):
            fused[index] += 1 / (FUSION + rank)
    return fused
