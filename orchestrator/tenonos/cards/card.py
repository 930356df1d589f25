"""A card: what was measured of one library, as a value and as the text that is kept.

Per kind of image (`mortise`, `tenon`): the bytes by section that an image grows by when it gets
the library, the bytes of code that were written in it, and the deepest stack of its functions. What
an image has beside its libraries (Rust's own, crates of the registry, what is generated) is on the
card of its kernel.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import reduce
from pathlib import Path
from typing import Any

from tenonos import outputs
from tenonos.errors import InputError
from tenonos.paths import ROOT, ensure, shown

FOLDER = Path("bench/cards")
KERNELS = "kernels"
"""What stands for a layer in the name of a kernel's card."""
KINDS = ("mortise", "tenon")
_HEAD = "# Measured by `./tenon measure`; do not edit.\n"


@dataclass(frozen=True)
class Size:
    """Bytes by section; of a library a difference, which may be negative."""

    text: int = 0
    rodata: int = 0
    data: int = 0
    bss: int = 0

    @property
    def loaded(self) -> int:
        """What is in the file."""
        return self.text + self.rodata + self.data

    @property
    def total(self) -> int:
        """What is in memory."""
        return self.loaded + self.bss

    def __add__(self, other: Size) -> Size:
        return Size(*(a + b for a, b in self._pairs(other)))

    def __sub__(self, other: Size) -> Size:
        return Size(*(a - b for a, b in self._pairs(other)))

    def shares(self, weights: Mapping[str, int]) -> dict[str, Size]:
        """This size dealt out by weight, to the last byte."""
        found, rest, left = {}, self, sum(weights.values())
        for name, weight in weights.items():
            found[name] = Size(*(getattr(rest, f.name) * weight // left for f in fields(rest)))
            rest, left = rest - found[name], left - weight
        return found

    def _pairs(self, other: Size) -> Iterator[tuple[int, int]]:
        return zip(asdict(self).values(), asdict(other).values(), strict=True)


def total(sizes: Iterable[Size]) -> Size:
    """Their sum."""
    return reduce(Size.__add__, sizes, Size())


@dataclass(frozen=True)
class Part:
    """What was measured of a library in one kind of image."""

    specimen: str
    """The image it was measured in, as `SYSTEM/IMAGE`."""
    size: Size
    written: int = 0
    """Bytes of code of its own, wherever the compiler moved them."""
    stack: int | None = None
    """The deepest of its functions, with all they call; none if all are part of others."""
    bounded: bool = True
    """Whether `stack` is never more."""


@dataclass(frozen=True)
class Card:
    """What was measured of one library."""

    library: str
    digest: str = ""
    """Of sources and options, as they were."""
    compiler: str = ""
    """The Rust it was built with."""
    operations: Mapping[str, int] = field(default_factory=dict)
    """Instructions of its key operations, at most."""
    parts: Mapping[str, Part] = field(default_factory=dict)
    """By kind of image."""

    @property
    def instructions(self) -> int:
        """Its longest key operation."""
        return max(self.operations.values(), default=0)

    def text(self) -> str:
        """The card as it is kept."""
        about = ("library", "digest", "compiler")
        lines = [f'{name} = "{getattr(self, name)}"' for name in about]
        if self.operations:
            lines += ["", "[operations]"]
            lines += [f"{name} = {taken}" for name, taken in sorted(self.operations.items())]
        for kind, part in sorted(self.parts.items()):
            lines += ["", f"[{kind}]", f'specimen = "{part.specimen}"']
            lines += [f"{name} = {size}" for name, size in asdict(part.size).items()]
            lines.append(f"written = {part.written}")
            if part.stack is not None:
                lines += [f"stack = {part.stack}", f"bounded = {str(part.bounded).lower()}"]
        return _HEAD + "\n".join(lines) + "\n"


def place(library: str, root: Path = ROOT) -> Path:
    """The file of a library's card."""
    return root / FOLDER / f"{library}.toml"


def kernel(kind: str) -> str:
    """The name of a kernel's card."""
    return f"{KERNELS}/{kind}"


def load(root: Path = ROOT) -> dict[str, Card]:
    """The cards of a tree, by library."""
    cards = map(read, sorted((root / FOLDER).glob("*/*.toml")))
    return {card.library: card for card in cards}


def read(file: Path) -> Card:
    """The card in a file."""
    try:
        values = tomllib.loads(file.read_text())
        parts = {kind: _part(values[kind]) for kind in KINDS if kind in values}
        about = (values[name] for name in ("library", "digest", "compiler"))
        return Card(*about, values.get("operations", {}), parts)
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        what = f"not a card: {error}"
        raise InputError(what, where=shown(file), mend="make it again: ./tenon measure") from None


def _part(values: dict[str, Any]) -> Part:
    size = Size(*(values[f.name] for f in fields(Size)))
    stack, bounded = values.get("stack"), values.get("bounded", True)
    return Part(values["specimen"], size, values["written"], stack, bounded)


def keep(cards: Iterable[Card], root: Path = ROOT) -> int:
    """Keep these cards and no others; how many files that changed."""
    wanted = {place(card.library, root): card.text() for card in cards}
    changed = 0
    for file in (root / FOLDER).glob("*/*.toml"):
        if file not in wanted:
            file.unlink()
            changed += 1
    for file, text in wanted.items():
        if not file.exists() or file.read_text() != text:
            ensure(file.parent)
            outputs.write(file, text)
            changed += 1
    return changed
