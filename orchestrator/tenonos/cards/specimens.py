"""Specimens: the images that are measured, of all that the systems of the tree have.

Of each kind the plainest are taken, with the fewest settings off their defaults and the fewest
libraries, until every library that some system has is in one. So nobody lists them, and what is
measured is what the tests build anyway. Images without a kernel are none: what they are made of is
composed by nobody, and the least of all they would stand for what a kernel takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tenonos import build, system
from tenonos.build.images import images
from tenonos.generate.image import Image
from tenonos.locks import exclusive
from tenonos.paths import SYSTEMS, TARGET
from tenonos.system.model import System


@dataclass(frozen=True)
class Specimen:
    """An image of a system of the tree."""

    system: System
    image: Image

    @property
    def name(self) -> str:
        """`SYSTEM/IMAGE`."""
        return f"{self.system.name}/{self.image.name}"

    @property
    def libraries(self) -> frozenset[str]:
        """What it is made of."""
        return frozenset(library.id for library in self.image.libraries)

    @property
    def options(self) -> str:
        """How it differs from an image with every setting at its default, and is compiled."""
        return f"{self.image.config.minimal}{self.image.optimisation} {self.image.flags}"

    @property
    def left_out(self) -> int:
        """How many settings that are on by default it has off."""
        return sum(line.endswith("is not set") for line in self.image.config.minimal.splitlines())

    def built(self) -> Path:
        """Its ELF."""
        with exclusive(TARGET):
            return build.compiled(self.image, build.folder(self.system))


def of_systems() -> Iterator[Specimen]:
    """All images with a kernel of all systems of the tree that are made of the pool alone."""
    for file in sorted(SYSTEMS.glob("*/system.toml")):
        loaded = system.load(file.parent)
        for image in images(loaded):
            own = any(library.is_outside for library in image.libraries)
            if image.root.root == image.kind and not own:
                yield Specimen(loaded, image)


def choose(candidates: Iterable[Specimen]) -> list[Specimen]:
    """Images that together have every library the candidates have, in each kind."""
    seen: dict[str, set[str]] = {}
    chosen = []
    for specimen in sorted(candidates, key=_plainness):
        known = seen.setdefault(specimen.image.kind, set())
        if specimen.libraries - known:
            known |= specimen.libraries
            chosen.append(specimen)
    return chosen


def _plainness(specimen: Specimen) -> tuple[int, int, str]:
    settings = specimen.image.config.minimal.splitlines()
    return len(settings), len(specimen.libraries), specimen.name
