"""Measuring: bytes and stacks of libraries, read from specimens that have them.

The smallest specimen of a kind is taken apart, of those that leave nothing out which is there by
default: to each library the code that was written in it, the rest to the kernel's card. Every
larger one is held against the sum of the cards so far: what it has beyond that is what its new
libraries cost, between several of them by the code of each. So an application's card has what it
makes the libraries below it grow by, and a sum of cards is exact wherever it was measured. When
all libraries have theirs, what an image with a setting off its default has beyond the sum is what
that costs.
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
from tenonos.cards.specimens import Specimen, is_of_system
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
    parts: dict[str, Part] = {}
    for library in sorted(first.specimen.libraries):
        parts[library] = first.part(library, Size(text=first.written.get(library, 0)))
    rest = first.size - total(part.size for part in parts.values())
    parts[kernel(kind)] = Part(first.specimen.name, rest)
    for one in others:
        parts |= _dealt(kind, one, one.specimen.libraries - parts.keys(), parts)
    # What an image has more of which a library was measured there is the library's already.
    taken = {part.specimen for part in parts.values()}
    for one in sorted(others, key=lambda one: one.specimen.name in taken):
        parts |= _dealt(kind, one, one.specimen.settings - parts.keys(), parts)
    return parts


def _dealt(
    kind: str, one: Dissected, new: frozenset[str], parts: Mapping[str, Part]
) -> dict[str, Part]:
    """What an image has beyond what is known, dealt out to what is new in it."""
    if not new:
        return {}
    known = one.specimen.parts & parts.keys()
    more = one.size - total(parts[name].size for name in (kernel(kind), *known))
    weights = {part: one.written.get(part, 0) + 1 for part in sorted(new)}
    return {part: one.part(part, size) for part, size in more.shares(weights).items()}


def _order(one: Dissected) -> tuple[bool, int, int, str]:
    """Systems of the tree first, and then what is measured beside them."""
    specimen = one.specimen
    beside = not is_of_system(specimen)
    return beside, specimen.left_out, one.size.loaded, specimen.name
