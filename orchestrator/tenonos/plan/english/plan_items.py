"""Collected plan items of a reader, each with its words."""

from __future__ import annotations

from collections.abc import Sequence

from tenonos.plan.english.mark import Mark
from tenonos.plan.english.sense import Sense
from tenonos.plan.english.text import Token
from tenonos.plan.models import Evidence, Item, Kind
from tenonos.plan.retrieval.retrieve import Hit


class Notebook:
    """The items found in one objective."""

    def __init__(self, text: str, words: Sequence[Token]) -> None:
        self.text = text
        self.words = words
        self.items: list[Item] = []
        self.evidence: list[Evidence] = []

    def _add(
        self,
        kind: Kind,
        value: int | str | None,
        at: Mark | Sense,
        image: str | None = None,
        unit: str | None = None,
        rule: str | None = None,
    ) -> None:
        source = self._shown(at) if isinstance(at, Mark) else self._between(at.first, at.last)
        start = self.words[at.first].start
        said = {"source": source, "span": (start, start + len(source)), "rule": rule}
        self.items.append(Item(kind=kind, value=value, unit=unit, image=image, **said))

    def _known(self, kind: Kind, value: str, image: str | None) -> bool:
        return any((i.kind, i.value, i.image) == (kind, value, image) for i in self.items)

    def _note(self, first: int, last: int, capability: str, hit: Hit | None) -> None:
        if hit is not None:
            span = (self.words[first].start, self.words[last - 1].end)
            self.evidence.append(Evidence.of(hit, self._between(first, last), span, capability))

    def _shown(self, mark: Mark) -> str:
        return self._between(mark.first, mark.until or mark.last)

    def _between(self, first: int, last: int) -> str:
        return self.text[self.words[first].start : self.words[last - 1].end]
