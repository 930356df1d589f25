"""A cost card: the measurements of one library, as a value and as the text on disk.

Per kind of image (`mortise`, `tenon`): the growth of an image by section when the library is added,
the bytes of code written in the library, and the deepest stack of its functions. The rest of an
image (Rust's own libraries, registry crates, generated code) is on the card of its kernel.
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
"""The first part of the name of a kernel's card, in place of a layer."""
KINDS = ("mortise", "tenon")
_HEAD = "# Measured by `./tenon measure`; do not edit.\n"


@dataclass(frozen=True)
class Size:
    """Bytes by section; for a library a difference, which may be negative."""

    text: int = 0
    rodata: int = 0
    data: int = 0
    bss: int = 0

    @property
    def loaded(self) -> int:
        """Bytes in the file."""
        return self.text + self.rodata + self.data

    @property
    def total(self) -> int:
        """Bytes in memory."""
        return self.loaded + self.bss

    def __add__(self, other: Size) -> Size:
        return Size(*(a + b for a, b in self._pairs(other)))

    def __sub__(self, other: Size) -> Size:
        return Size(*(a - b for a, b in self._pairs(other)))

    def shares(self, weights: Mapping[str, int]) -> dict[str, Size]:
        """This size divided by weight, exact to the byte."""
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
    """The measurements of a library in one kind of image."""

    specimen: str
    """The image it was measured in, as `SYSTEM/IMAGE`."""
    size: Size
    written: int = 0
    """Bytes of its own code, wherever the compiler moved them."""
    stack: int | None = None
    """The deepest stack of its functions with their callees; none if all are inlined."""
    bounded: bool = True
    """Whether `stack` is a bound."""


@dataclass(frozen=True)
class Card:
    """The measurements of one library."""

    library: str
    digest: str = ""
    """Digest of sources and options at the measurement."""
    compiler: str = ""
    """Version of the Rust compiler."""
    operations: Mapping[str, int] = field(default_factory=dict)
    """Instructions of its key operations, the most for each."""
    parts: Mapping[str, Part] = field(default_factory=dict)
    """Measurements by kind of image."""

    @property
    def instructions(self) -> int:
        """Instructions of its longest key operation."""
        return max(self.operations.values(), default=0)

    def text(self) -> str:
        """The text of the card on disk."""
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
    """Write these cards and remove all others; the number of changed files."""
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
