"""Measuring: bytes and stacks of libraries, read from specimens that have them.

The smallest specimen of a kind is taken apart, of those that leave nothing out which is there by
default: to each library the code that was written in it, the rest to the kernel's card. Every
larger one is held against the sum of the cards so far: what it has beyond that is what its new
libraries cost, between several of them by the code of each. So an application's card has what it
makes the libraries below it grow by, and a sum of cards is exact wherever it was measured. Last
come images with settings off their defaults: what they have beyond the sum is what those cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tenonos.analysis.graph import Graph
from tenonos.analysis.stacks import Need, Stacks
from tenonos.build import elf
from tenonos.build.attribution import Ownership
from tenonos.cards.card import Card, Part, Size, kernel, total
from tenonos.cards.specimens import Specimen
from tenonos.cards.stale import compiler, digest

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Dissected:
    """One specimen, taken apart."""

    specimen: Specimen
    size: Size
    written: dict[str, int]
    stacks: dict[str, Need]

    def part(self, library: str, size: Size) -> Part:
        """What it tells of a library that costs so much."""
        need = self.stacks.get(library)
        return Part(
            self.specimen.name,
            size,
            self.written.get(library, 0),
            need and need.size,
            need is None or need.bounded,
        )


def cards(
    specimens: list[Specimen], operations: Mapping[str, dict[str, int]], tell: Tell
) -> list[Card]:
    """The cards of everything the specimens have."""
    parts: dict[str, dict[str, Part]] = {}
    for kind in sorted({specimen.image.kind for specimen in specimens}):
        mine = [specimen for specimen in specimens if specimen.image.kind == kind]
        for library, part in _parts(kind, list(_dissected(mine, tell))).items():
            parts.setdefault(library, {})[kind] = part
    known = {specimen.name: specimen for specimen in specimens}
    return [
        Card(
            library,
            digest(library, [known[part.specimen] for part in found.values()]),
            compiler(),
            operations.get(library, {}),
            found,
        )
        for library, found in sorted(parts.items())
    ]


def _dissected(specimens: list[Specimen], tell: Tell) -> Iterator[Dissected]:
    for number, specimen in enumerate(specimens, 1):
        tell(f"{specimen.image.kind} {number} of {len(specimens)}: {specimen.name}")
        yield dissect(specimen, specimen.built())


def dissect(specimen: Specimen, file: Path) -> Dissected:
    """A built specimen, taken apart."""
    content = file.read_bytes()
    folders = {library.id: library.path for library in specimen.image.libraries}
    ownership = Ownership(content, folders)
    stacks = Stacks(Graph(content))
    deepest: dict[str, Need] = {}
    for function in stacks.graph.functions.values():
        owner = ownership.of(function.start)
        if owner in folders:
            deepest[owner] = deepest.get(owner, Need()) | stacks.of(function)
    return Dissected(specimen, Size(**elf.sections(content)), ownership.bytes(), deepest)


def _parts(kind: str, found: list[Dissected]) -> dict[str, Part]:
    """What each library and setting costs: of the first image, then what others have more."""
    first, *others = sorted(found, key=_order)
    parts = {}
    for library in sorted(first.specimen.libraries):
        parts[library] = first.part(library, Size(text=first.written.get(library, 0)))
    rest = first.size - total(part.size for part in parts.values())
    parts[kernel(kind)] = Part(first.specimen.name, rest)
    for one in others:
        new = one.specimen.parts - parts.keys()
        if new:
            known = [kernel(kind), *(one.specimen.parts & parts.keys())]
            parts |= _dealt(one, sorted(new), one.size - total(parts[name].size for name in known))
    return parts


def _dealt(one: Dissected, new: list[str], more: Size) -> dict[str, Part]:
    """What an image has more, dealt out to what is new in it.

    Beside a new setting a library has but the code of its own: the setting makes all others grow.
    """
    sets = [part for part in new if part in one.specimen.settings]
    sizes: dict[str, Size] = {}
    if sets:
        sizes = {part: Size(text=one.written.get(part, 0)) for part in new if part not in sets}
        more -= total(sizes.values())
    weights = {part: one.written.get(part, 0) + 1 for part in sets or new}
    return {part: one.part(part, size) for part, size in (sizes | more.shares(weights)).items()}


def _order(one: Dissected) -> tuple[int, int, int, str]:
    specimen = one.specimen
    return len(specimen.settings), specimen.left_out, one.size.loaded, specimen.name
