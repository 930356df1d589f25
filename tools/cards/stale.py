"""Stale cards: measured with other sources, other options or another compiler.

A card depends on its own library only, so that a change in one library makes one card stale. Small
changes of its bytes caused by other libraries are accepted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tenonos import digests
from tenonos.build.cargo import LOCK
from tenonos.build.sloc import sources
from tenonos.cards.card import KERNELS, Card
from tenonos.paths import ROOT
from tenonos.pool.library import Library
from tenonos.setup import rust
from tools.cards.specimens import SETTINGS, Specimen, of_tree


def compiler() -> str:
    """The version of the Rust compiler used here."""
    return rust.toolchain().release


def digest(library: str, specimens: Iterable[Specimen]) -> str:
    """The digest of a card's inputs: sources and measured options."""
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
    """Whether a setting's card depends on a library: the library declares the setting."""
    layer, _, symbol = setting.partition("/")
    own = library.symbol.removeprefix("LIB_")
    return layer == SETTINGS and symbol.startswith(f"{own}_")


def files(library: Library) -> list[Path]:
    """Sources and configuration of a library, without tests."""
    listed = [library.path / name for name in ("Cargo.toml", "Kconfig")]
    headers = sorted(library.headers.rglob("*.h")) if library.headers else []
    found = [*listed, *sources(library.path), *library.sources, *headers]
    return [file for file in found if file.exists()]


def stale(cards: Mapping[str, Card]) -> Iterator[tuple[str, str]]:
    """The libraries with stale or missing cards, with reasons."""
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
