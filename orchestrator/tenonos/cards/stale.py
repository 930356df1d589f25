"""Which cards are stale: measured of other sources, of other options, with another compiler.

A card is a witness of its own library only. That its bytes may change with those of others is the
price of being told, of a change in one library, that one card is to be made again and not all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tenonos import digests
from tenonos.build.cargo import LOCK
from tenonos.build.sloc import sources
from tenonos.cards.card import KERNELS, Card
from tenonos.cards.specimens import SETTINGS, Specimen, of_tree
from tenonos.paths import ROOT
from tenonos.pool.library import Library
from tenonos.setup import rust


def compiler() -> str:
    """The Rust that images are built with here."""
    return ".".join(map(str, rust.toolchain().version))


def digest(library: str, specimens: Iterable[Specimen]) -> str:
    """What a card rests on: the sources, and the options it was measured with."""
    found = hashlib.sha256()
    for specimen in specimens:
        found.update(f"{specimen.name}\0{specimen.options}\0".encode())
        for other in specimen.image.libraries:
            if other.id == library or _sets(other, library):
                digests.add(found, files(other), other.path)
    if library.startswith(f"{KERNELS}/"):
        found.update((ROOT / LOCK).read_bytes())
    return found.hexdigest()[:16]


def _sets(library: Library, setting: str) -> bool:
    """Whether a setting's card rests on a library: it is one of the library's own."""
    layer, _, symbol = setting.partition("/")
    own = library.symbol.removeprefix("LIB_")
    return layer == SETTINGS and symbol.startswith(f"{own}_")


def files(library: Library) -> list[Path]:
    """What a library is built from and configured by; not its tests."""
    listed = [library.path / name for name in ("Cargo.toml", "Kconfig")]
    headers = sorted(library.headers.rglob("*.h")) if library.headers else []
    found = [*listed, *sources(library.path), *library.sources, *headers]
    return [file for file in found if file.exists()]


def stale(cards: Mapping[str, Card]) -> Iterator[tuple[str, str]]:
    """The cards that are stale or missing, by library, and why."""
    specimens = {specimen.name: specimen for specimen in of_tree()}
    measurable = frozenset().union(*(specimen.parts for specimen in specimens.values()))
    for library, card in cards.items():
        wanted = [part.specimen for part in card.parts.values()]
        gone = next((name for name in wanted if name not in specimens), None)
        if library not in measurable and not library.startswith(f"{KERNELS}/"):
            yield library, "no system has it any more"
        elif gone is not None:
            yield library, f"it was measured in {gone}, which is no more"
        elif digest(library, [specimens[name] for name in wanted]) != card.digest:
            yield library, "its sources or the options are others"
        elif card.compiler != compiler():
            yield library, f"it was measured with Rust {card.compiler}, here is {compiler()}"
    for library in sorted(measurable - cards.keys()):
        yield library, "it was never measured"
