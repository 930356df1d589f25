"""Embeddings of the OpenAI protocol: texts in, a vector for each out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

from tenonos.plan.llm.endpoint import URL, Endpoint

BATCH = 16
"""Texts per request, so that an answer is within the endpoint's limit."""


class Embeddings(Endpoint):
    """A server with an embedding model."""

    place = "/embeddings"

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, all of one length."""
        found = [vector for batch in _batches(texts) for vector in self._asked(batch)]
        if len({len(vector) for vector in found}) > 1:
            raise self._error("its vectors differ in length", f"check {URL}")
        return found

    def _asked(self, texts: Sequence[str]) -> list[list[float]]:
        question = {"model": self.model, "input": list(texts)}
        found = _read(self._answered(lambda: self._post(question)), len(texts))
        if found is None:
            raise self._error("its answer is not a list of embeddings", f"check {URL}")
        return found


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(texts), BATCH):
        yield texts[at : at + BATCH]


def _read(body: bytes, count: int) -> list[list[float]] | None:
    """The vectors of an answer, in the order of the question; None if it is invalid."""
    try:
        rows = sorted(json.loads(body)["data"], key=lambda row: row["index"])
        found = [[float(number) for number in row["embedding"]] for row in rows]
        right = [row["index"] for row in rows] == list(range(count))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    finite = all(vector and all(map(math.isfinite, vector)) for vector in found)
    return found if right and finite else None
