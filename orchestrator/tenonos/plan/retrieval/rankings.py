"""Rankings of texts by similarity to a phrase: BM25 of words, TF-IDF of character n-grams.

A pool has some hundred short texts, so dictionaries are sufficient.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

K1, B = 1.5, 0.75
"""Saturation of term frequency and normalisation of text length, as customary since Robertson et
al. 1994."""
SIZES = (3, 4)
"""Characters of an n-gram: short enough for other forms of a word, long enough to tell words."""


class Words:
    """Okapi BM25 over bags of words."""

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        mean = sum(map(len, bags)) / max(1, len(bags))
        self._shares = [
            {w: n / (n + K1 * (1 - B + B * len(bag) / mean)) for w, n in Counter(bag).items()}
            for bag in bags
        ]
        found = Counter(word for bag in bags for word in set(bag))
        self._rarity = {w: math.log1p((len(bags) - n + 0.5) / (n + 0.5)) for w, n in found.items()}

    def scores(self, asked: Iterable[str]) -> list[float]:
        """The score of each bag for the query words."""
        known = [word for word in asked if word in self._rarity]
        return [sum(self._rarity[w] * bag.get(w, 0.0) for w in known) for bag in self._shares]


class Grams:
    """The cosine of TF-IDF vectors over the character n-grams within words."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [_grams(text) for text in texts]
        found = Counter(gram for count in counts for gram in count)
        self._rarity = {g: 1 + math.log((1 + len(texts)) / (1 + n)) for g, n in found.items()}
        self._vectors = [self._vector(count) for count in counts]

    def scores(self, asked: str) -> list[float]:
        """The score of each text for the query."""
        wanted = self._vector(_grams(asked))
        return [
            sum(weight * vector.get(gram, 0.0) for gram, weight in wanted.items())
            for vector in self._vectors
        ]

    def _vector(self, counts: Mapping[str, int]) -> dict[str, float]:
        """The known n-grams with their weights, of length 1."""
        vector = {
            gram: (1 + math.log(count)) * self._rarity[gram]
            for gram, count in counts.items()
            if gram in self._rarity
        }
        length = math.hypot(*vector.values()) or 1.0
        return {gram: weight / length for gram, weight in vector.items()}


def _grams(text: str) -> Counter[str]:
    """The n-grams of each word, its ends marked."""
    bounded = [f" {word} " for word in text.lower().split()]
    return Counter(
        word[at : at + size]
        for word in bounded
        for size in SIZES
        for at in range(max(1, len(word) - size + 1))
    )
