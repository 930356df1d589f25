"""Estimates of the cost of libraries and of images that were not built.

An image is estimated as the sum of its cards. A library without a card is taken to have as many
bytes per line as those with one, and is reported as estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tenonos.build.sloc import count, lines
from tenonos.cards.card import Card, Size, kernel, load, total
from tenonos.pool.library import Library, index

PER_LINE = 8
"""Bytes per line where no library was measured."""


@dataclass(frozen=True)
class Estimates:
    """The cards of a pool, and its libraries by name."""

    cards: Mapping[str, Card]
    libraries: Mapping[str, Library]

    def measured(self, kind: str, library: str) -> bool:
        """Whether a library has a card for that kind of image."""
        return library in self.cards and kind in self.cards[library].parts

    def size(self, kind: str, library: str) -> Size:
        """The growth of an image of a kind when a library is added."""
        card = self.cards.get(library)
        if card is not None and kind in card.parts:
            return card.parts[kind].size
        if library not in self.libraries:
            return Size()
        return Size(text=round(source_lines(self.libraries[library]) * self._per_line))

    def instructions(self, library: str) -> int:
        """The longest measured key operation of a library; 0 without one."""
        return self.cards[library].instructions if library in self.cards else 0

    def image(self, kind: str, libraries: Iterable[str]) -> Size:
        """The size of an image of a kind made of some libraries."""
        return total(self.size(kind, name) for name in (kernel(kind), *libraries))

    def error(self, images: Iterable[tuple[str, Iterable[str], Size]]) -> float:
        """The error of the estimates in percent, for built images: kind, libraries and size of
        each."""
        pairs = [
            (self.image(kind, libraries).loaded, has.loaded) for kind, libraries, has in images
        ]
        summed, built = (sum(column) for column in zip(*pairs, strict=True))
        return 100 * (summed - built) / built

    @cached_property
    def _per_line(self) -> float:
        """Bytes of code per source line, over all that was measured."""
        known = [self.cards[name] for name in self.libraries if name in self.cards]
        written = sum(max(part.written for part in card.parts.values()) for card in known)
        counted = sum(source_lines(self.libraries[card.library]) for card in known)
        return written / counted if counted else PER_LINE


def of_tree(root: Path) -> Estimates:
    """The estimates for the libraries of a tree."""
    return Estimates(load(root), index(root).by_id)


@cache
def _lines(folder: Path, files: tuple[Path, ...]) -> int:
    return count(folder) + sum(lines((folder / file).read_text()) for file in files)


def source_lines(library: Library) -> int:
    """Source lines of a crate, or of a program in C."""
    return _lines(library.path, library.sources)
