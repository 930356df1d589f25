"""Contradictions that the trained reader marks in an objective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tenonos.plan.models import Item
from tenonos.plan.pool import Pool
from tenonos.plan.reader.reading import Reading, overlap, span_of

_OPPOSITE: Mapping[str, str] = {"capability": "forbid", "forbid": "capability"}


LEAST = 0.6
"""Pieces of less confidence do not count: of 644 objectives without a contradiction, of authors
that were held out, three had several pieces above it, and six had them above 0.5."""


def contradictory(reading: Reading, items: Sequence[Item]) -> Iterator[Item]:
    """A demand of each piece of a contradiction, where the reader finds several pieces."""
    sure = [s for s in reading.spans if s.kind == "conflict" and s.confidence >= LEAST]
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


def of_rules(items: Sequence[Item], reading: Reading, pool: Pool) -> Iterator[Item]:
    """What the rules read as demanded and as forbidden, in different words, of a capability that
    the reader speaks of too. A kind of VM and a function of an application are named for other
    reasons as well."""
    spoken = {s.name for s in reading.capabilities if s.polarity in ("demanded", "forbidden")}
    for one in items:
        if one.kind != "forbid" or one.value not in spoken or not one.span:
            continue
        others = [
            i
            for i in items
            if (i.kind, i.value) == ("capability", one.value)
            and i.span
            and not overlap(i.span, one.span)
        ]
        named = str(one.value).startswith("guest.") or pool.done_by(str(one.value))
        if others and not named:
            yield from (i.model_copy(update={"image": None}) for i in (others[0], one))
