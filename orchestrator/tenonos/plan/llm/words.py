"""Words of an objective for claims: places, and the numbers in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenonos.plan.english.marker import Marker
from tenonos.plan.english.quantities import Dimension, quantity_at
from tenonos.plan.english.text import number_at, tokens

Span = tuple[int, int]

REACH = 8
"""Words before a place in which an overlapping number may begin."""

DIMENSIONS: dict[str, tuple[Dimension, ...]] = {
    "period": ("rate", "time"),
    **dict.fromkeys(("deadline", "jitter", "wcet"), ("time",)),
    **dict.fromkeys(("ram", "image"), ("size",)),
    **dict.fromkeys(("cores", "vms", "priority"), ("count",)),
}


class Words:
    """An objective in words."""

    def __init__(self, text: str, boards: Sequence[str]) -> None:
        self.text = text
        self.words = tokens(text)
        self.first = {word.start: index for index, word in enumerate(self.words)}
        self.after = {word.end: index + 1 for index, word in enumerate(self.words)}
        marks = Marker(text, self.words, boards).run()
        self.idle: list[tuple[Span, str]] = [
            ((self.words[m.first].start, self.words[m.last - 1].end), str(m.value))
            for m in marks
            if m.kind == "ignored"
        ]
        """Words that grammar alone recognises as no demand (an instruction to the tool), with the
        reason."""

    def places(self, words: str) -> list[Span]:
        """The places of words, verbatim and as whole words."""
        found = []
        at = self.text.find(words)
        while at >= 0 and words:
            if at in self.first and at + len(words) in self.after:
                found.append((at, at + len(words)))
            at = self.text.find(words, at + 1)
        return found

    def numbers(self) -> Iterator[Span]:
        """The numbers in digits, all of which claims must cover."""
        return ((word.start, word.end) for word in self.words if word.is_number)

    def has_number(self, span: Span) -> bool:
        """Whether a number, in digits or spelled, begins within a place."""
        first, last = self.first[span[0]], self.after[span[1]]
        return any(number_at(self.words, at) for at in range(first, last))

    def value(self, kind: str, span: Span) -> int | None:
        """The one number of a kind's dimension at a place; None if there is none, or several."""
        first, last = self.first[span[0]], self.after[span[1]]
        if self._cut(first):
            return None
        found: set[int] = set()
        at = first
        while at < last:
            quantity = quantity_at(self.words, at)
            if quantity is None:
                found |= self._bare(kind, at, last)
                at += 1
                continue
            if quantity.last > last:
                return None
            if quantity.dimension in DIMENSIONS.get(kind, ("count",)):
                found.add(quantity.value)
            at = quantity.last
        return found.pop() if len(found) == 1 else None

    def _bare(self, kind: str, at: int, last: int) -> set[int]:
        """A core's number may be 0, which is no count."""
        number = number_at(self.words, at) if kind == "core" else None
        return {0} if number and number[0] == 0 and number[1] <= last else set()

    def _cut(self, first: int) -> bool:
        """Whether the number at a word is the end of a longer one: of `1,5` or `twenty-five`."""
        start = self.words[first].start
        before = self.text[max(0, start - 2) : start]
        if self.words[first].is_number and before[:1].isdecimal() and before[1:] in (",", "/", "-"):
            return True
        reached = (number_at(self.words, at) for at in range(max(0, first - REACH), first))
        return any(number is not None and number[1] > first for number in reached)
