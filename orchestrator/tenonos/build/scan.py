"""The check that a linked image has no sequence that an erratum of the board's CPU forbids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenonos.analysis import errata as sequences
from tenonos.analysis.errata import Place
from tenonos.generate.image import Image
from tenonos.system.errata import Erratum

_SCANS = {
    "multiply-accumulate": (sequences.multiply_accumulate, False),
    "page-address": (sequences.page_address, False),
    # Speculation may fetch data beside code too.
    "address-translation": (sequences.translations, True),
}
"""For each sequence the scan, and whether it reads data among the code."""

Found = dict[str, list[Place]]
"""The places of sequences, by erratum."""


def scanned(image: Image) -> Iterator[tuple[str, Erratum]]:
    """The errata for which the image is scanned."""
    for number, erratum in image.board.errata.each.items():
        if erratum.scan and erratum.only in (None, image.kind):
            yield number, erratum


def found(image: Image, content: bytes) -> Found:
    """The sequences in the ELF of an image."""
    places = {}
    for number, erratum in scanned(image):
        assert erratum.scan is not None
        scan, data = _SCANS[erratum.scan]
        places[number] = sequences.places(content, scan, data=data)
    return {number: each for number, each in places.items() if each}


def told(found: Found) -> str:
    """The sequences in one line, with the first place of each."""
    return "; ".join(_told(number, places) for number, places in found.items())


def _told(number: str, places: Iterable[Place]) -> str:
    first, *more = places
    rest = f", and {len(more)} more" if more else ""
    return f"the sequence of erratum {number} in {first}{rest}"
