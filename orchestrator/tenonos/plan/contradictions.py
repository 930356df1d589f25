"""Contradictions that the trained reader marks in an objective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tenonos.plan.models import Item
from tenonos.plan.reader.reading import Reading, overlap, span_of

_OPPOSITE: Mapping[str, str] = {"capability": "forbid", "forbid": "capability"}


def contradictory(reading: Reading, items: Sequence[Item], least: float) -> Iterator[Item]:
    """A demand of each piece of a contradiction, where the reader finds several pieces: of such
    objectives that it was not trained with, all were contradictory. Pieces of less confidence than
    `least` do not count."""
    sure = [s for s in reading.spans if s.kind == "conflict" and s.confidence >= least]
    own = {
        at: next((i for i in items if i.span and overlap(i.span, span_of(span))), None)
        for at, span in enumerate(sure)
    }
    known = list(dict.fromkeys(item for item in own.values() if item))
    if len(sure) < 2 or not known:
        return
    yield from known
    for at, span in enumerate(sure):
        # A piece that became no demand says the opposite of one that did.
        if own[at] is None and len(known) == 1:
            where = {"source": span.span, "span": span_of(span)}
            kind = _OPPOSITE.get(known[0].kind, known[0].kind)
            yield known[0].model_copy(update={"kind": kind, **where})
