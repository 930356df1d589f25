"""The sizes of a built system: sections by kind, code and source lines by micro-library."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenonos.analysis.graph import Graph
from tenonos.analysis.stacks import Need, Stacks
from tenonos.build import Built, elf, scan
from tenonos.build.attribution import Ownership
from tenonos.build.linked_lines import linked_by_library
from tenonos.build.sloc import count
from tenonos.generate.image import Image
from tenonos.pool.library import Library

_INTERRUPT_STACK = "TENON_THREAD_INTERRUPT_STACK"

_PARTS = {
    "scheduler": {"core/sched", "mortise/dispatch", "tenon/kernel"},
    "allocator": {"rlsf", "alloc", "tenon/memory"},
}
"""Owners of the code of optional parts of an image."""


@dataclass(frozen=True)
class ImageSize:
    """One image: bytes by kind, and bytes of code by library."""

    name: str
    sections: dict[str, int]
    owners: dict[str, int]
    lines_of: Counter[str]
    """Linked source lines of each library."""

    @property
    def lines(self) -> int:
        """Linked source lines of all libraries."""
        return self.lines_of.total()

    @property
    def parts(self) -> dict[str, bool]:
        """Presence of the parts that a static Mortise does without."""
        has = {part: names & self.owners.keys() for part, names in _PARTS.items()}
        return {part: bool(names) for part, names in has.items()}

    @property
    def total(self) -> int:
        """All sections, unpadded."""
        return sum(self.sections.values())


def measure(built: Built) -> dict[str, Any]:
    """The result of `./tenon size`, as JSON."""
    sizes = []
    for image in built.images:
        sizes.append(image_size(image.name, built.elf_files[image.name], image.libraries))
    libraries: dict[str, Library] = {}
    for image in built.images:
        libraries |= {library.id: library for library in image.libraries}
    return {
        "images": [
            {
                "name": size.name,
                **size.sections,
                "total": size.total,
                "linked_sloc": size.lines,
                **size.parts,
            }
            for size in sizes
        ],
        "libraries": [
            {
                "name": name,
                "sloc": count(library.path),
                "text": sum(size.owners.get(name, 0) for size in sizes),
                "in": [i.name for i in built.images if library in i.libraries],
            }
            for name, library in libraries.items()
        ],
        "third_party": _others(sizes, libraries),
        "stacks": [row for image in built.images for row in _stacks(image, built)],
        "errata": list(_errata(built)),
    }


def _errata(built: Built) -> Iterator[dict[str, Any]]:
    """The errata of the board's CPU: by what means each is handled, and in which images."""
    board = built.system.board
    for number, erratum in board.errata.each.items():
        yield {
            "erratum": number,
            "title": erratum.title,
            "means": erratum.means,
            "scanned": [i.name for i in built.images if number in dict(scan.scanned(i))],
        }


def _stacks(image: Image, built: Built) -> Iterator[dict[str, Any]]:
    """The stacks of a Tenon image: bound or lower bound of their need, and their size."""
    if image.kind != "tenon":
        return
    stacks = Stacks(Graph(built.elf_files[image.name].read_bytes()))
    threads: dict[str, dict[str, Any]] = {}
    for thread in stacks.threads():
        name = stacks.name(thread)
        row = _stack(image, name, stacks, thread.need, thread.size)
        row["place"] = stacks.where(thread)
        # Spawned or inlined at several places: the one with the largest need or smallest size.
        key = f"{name} {thread.size}"
        if key not in threads or row["need"] > threads[key]["need"]:
            threads[key] = row
    yield from threads.values()
    need = stacks.handlers()
    row = _stack(image, "interrupts", stacks, need, int(image.config[_INTERRUPT_STACK]))
    if stacks.nested:
        row["bounded"] = False
        row["because"].append("nested interrupts, for each of which it needs as much again")
    yield row


def _stack(image: Image, name: str, stacks: Stacks, need: Need, size: int) -> dict[str, Any]:
    return {
        "image": image.name,
        "name": name,
        "need": need.size,
        "bounded": need.bounded,
        "size": size,
        "because": stacks.why(need),
        "place": None,
    }


def _others(sizes: list[ImageSize], libraries: dict[str, Library]) -> list[dict[str, Any]]:
    """Code from outside the pool: registry crates, Rust's own libraries, generated code."""
    names = sorted({name for size in sizes for name in size.owners} - libraries.keys())
    return [
        {
            "name": name,
            "text": sum(size.owners.get(name, 0) for size in sizes),
            "in": [size.name for size in sizes if name in size.owners],
        }
        for name in names
    ]


def image_size(name: str, file: Path, libraries: tuple[Library, ...]) -> ImageSize:
    """The sizes of one image made of these libraries."""
    content = file.read_bytes()
    folders = {library.id: library.path for library in libraries}
    ownership = Ownership(content, folders)
    return ImageSize(name, elf.sections(content), ownership.bytes(), linked_by_library(ownership))
