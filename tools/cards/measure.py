"""Measurement of bytes and stacks of libraries, from specimens that contain them.

The smallest specimen of a kind, among those with all default settings on, is divided: each library
gets the code written in it, the kernel's card gets the rest. Every larger specimen is compared with
the sum of the cards so far: the excess is the cost of its new libraries, divided between several by
the code of each. So an application's card includes the growth of the libraries below it, and a sum
of cards is exact for every measured image. Once all libraries have cards, the excess of an image
with a setting off its default is the cost of that setting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tenonos.analysis.graph import Graph
from tenonos.analysis.stacks import Need, Stacks
from tenonos.build import elf
from tenonos.build.attribution import Ownership
from tenonos.build.images import Image
from tenonos.cards.card import Card, Part, Size, kernel, total
from tenonos.pace import Pace
from tools.cards.specimens import Specimen, is_of_system
from tools.cards.stale import compiler, digest

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Dissected:
    """The bytes of one specimen by library."""

    specimen: Specimen
    size: Size
    written: dict[str, int]
    stacks: dict[str, Need]

    def part(self, library: str, size: Size) -> Part:
        """The measurements of a library of that size in this specimen."""
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
    """The cards of all libraries and settings in the specimens."""
    parts: dict[str, dict[str, Part]] = {}
    dissected = list(_dissected(specimens, tell))
    for kind in sorted({specimen.image.kind for specimen in specimens}):
        mine = [one for one in dissected if one.specimen.image.kind == kind]
        for library, part in _parts(kind, mine).items():
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
    pace = Pace(len(specimens))
    for done, specimen in enumerate(specimens):
        tell(f"images: {pace.at(done)}: {specimen.image.kind} {specimen.name}")
        yield dissect(specimen, specimen.built())


def dissect(specimen: Specimen, file: Path) -> Dissected:
    """Divide a built specimen by library."""
    content = file.read_bytes()
    folders = {library.id: library.path for library in specimen.image.libraries}
    ownership = Ownership(content, folders)
    stacks = Stacks(Graph(content))
    deepest: dict[str, Need] = {}
    for function in stacks.graph.functions.values():
        owner = ownership.of(function.start)
        if owner in folders:
            deepest[owner] = deepest.get(owner, Need()) | stacks.of(function)
    return Dissected(specimen, own_size(specimen.image, content), ownership.bytes(), deepest)


def own_size(image: Image, content: bytes) -> Size:
    """The size of a built image without the files of its processes."""
    return Size(**elf.sections(content)) - Size(rodata=len(image.files))


def _parts(kind: str, found: list[Dissected]) -> dict[str, Part]:
    """The cost of each library and setting: from the first image, then from the excess of
    others."""
    first, *others = sorted(found, key=_order)
    parts: dict[str, Part] = {}
    for library in sorted(first.specimen.libraries):
        parts[library] = first.part(library, Size(text=first.written.get(library, 0)))
    rest = first.size - total(part.size for part in parts.values())
    parts[kernel(kind)] = Part(first.specimen.name, rest)
    for one in others:
        parts |= _dealt(kind, one, one.specimen.libraries - parts.keys(), parts)
    # The excess in an image in which a library was measured is on that library's card already.
    taken = {part.specimen for part in parts.values()}
    for one in sorted(others, key=lambda one: one.specimen.name in taken):
        parts |= _dealt(kind, one, one.specimen.settings - parts.keys(), parts)
    return parts


def _dealt(
    kind: str, one: Dissected, new: frozenset[str], parts: Mapping[str, Part]
) -> dict[str, Part]:
    """The excess of an image over the known cards, divided between its new libraries."""
    if not new:
        return {}
    known = one.specimen.parts & parts.keys()
    more = one.size - total(parts[name].size for name in (kernel(kind), *known))
    weights = {part: one.written.get(part, 0) + 1 for part in sorted(new)}
    return {part: one.part(part, size) for part, size in more.shares(weights).items()}


def _order(one: Dissected) -> tuple[bool, int, int, str]:
    """Sort key: systems of the tree first, then additional specimens."""
    specimen = one.specimen
    beside = not is_of_system(specimen)
    return beside, specimen.left_out, one.size.loaded, specimen.name
