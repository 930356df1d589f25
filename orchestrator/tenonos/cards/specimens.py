"""Specimens: the images that are measured, of all that the systems of the tree have.

Of each kind the plainest are taken, with the fewest settings off their defaults and the fewest
libraries, until every library that some system has is in one, and every setting is off its default
in one. So nobody lists them, and what is measured is what the tests build anyway. An application
that no system has is measured alone in a VM, and a capability that is a setting with the demo's.
Images without a kernel are none: what they are made of is composed by nobody, and the least of all
they would stand for what a kernel takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tenonos import build, catalogue, paths, system
from tenonos.build.images import images
from tenonos.errors import InputError
from tenonos.generate.image import Image
from tenonos.locks import exclusive
from tenonos.outputs import write
from tenonos.pool import kconfig
from tenonos.pool.library import index
from tenonos.system.model import System

SETTINGS = "settings"
"""What stands for a layer in the name of a setting's card."""
TYPICAL = "motor"
"""The application that has a setting which no system has."""
SEVERAL = ("TENON_THREAD_CORES", "4")
"""A setting that systems have only with programs which are larger for it themselves."""
_CHOICES = ("LIB_", "APP_", "BOARD_", "IMAGE_")
_LINE = re.compile(r"(?:# )?CONFIG_(\w+)(?:=(\d+)| is not set|=.*)")
_ALONE = """name = "{name}"
board = "qemu-virt"
pool = "0.1"
mode = "static"

[[vm]]
name = "{vm}"
kind = "tenon"
app = "{app}"
cpus = [0]
memory = "16M"
interrupts = "direct"
"""


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
    def settings(self) -> frozenset[str]:
        """The settings that are off their defaults, as cards are named.

        Mortise's numbers are none: they follow from the system, and size memory.
        """
        return settings(self.image)

    @property
    def parts(self) -> frozenset[str]:
        """All of it that has a card."""
        return self.libraries | self.settings

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
        folder = build.folder(self.system)
        with exclusive(folder):
            return build.compiled(self.image, folder)


def settings(image: Image) -> frozenset[str]:
    """The settings of an image that have cards of their own."""
    found = (_LINE.fullmatch(line) for line in image.config.minimal.splitlines())
    return frozenset(
        f"{SETTINGS}/{line[1]}"
        for line in found
        if line and not line[1].startswith(_CHOICES) and not (line[2] and image.kind == "mortise")
    )


def of_tree() -> Iterator[Specimen]:
    """Those of all systems of the tree, and of what no system has."""
    found = list(of_systems())
    yield from found
    yield from _alone({part for specimen in found for part in specimen.parts})


def of_systems() -> Iterator[Specimen]:
    """All images with a kernel of all systems of the tree that are made of the pool alone."""
    for _, folder in sorted(catalogue.systems().items()):
        yield from _of(system.load(folder))


def _of(loaded: System) -> Iterator[Specimen]:
    for image in images(loaded):
        own = any(library.is_outside for library in image.libraries)
        if image.root.root == image.kind and not own:
            yield Specimen(loaded, image)


def _alone(known: Collection[str]) -> Iterator[Specimen]:
    """Images of their own for the applications and capabilities that no system has.

    What needs more than a VM for itself is in a system that has it.
    """
    for name in sorted(index().by_id):
        layer, _, app = name.partition("/")
        if layer == "apps" and name not in known:
            yield from _made(app)
    yield from _made(TYPICAL, *SEVERAL)
    for symbol in kconfig.load().symbols.values():
        capable = any(target.name.startswith("CAP_") for target, *_ in symbol.selects)
        choice = symbol.name.startswith(_CHOICES)
        if capable and not choice and f"{SETTINGS}/{symbol.name}" not in known:
            yield from _made(TYPICAL, symbol.name)


def _made(app: str, setting: str | None = None, value: str = "y") -> Iterator[Specimen]:
    name = f"alone-{app}" if setting is None else f"alone-{setting.lower().replace('_', '-')}"
    folder = paths.ensure(paths.DOT / "measure" / name)
    described = _ALONE.format(name=name, vm=app, app=app)
    if setting:
        write(folder / f"{app}.config", f"CONFIG_{setting}={value}\n")
    try:
        found = _loaded(folder, described, app)
        if devices := _driven(found):  # without them the compiler leaves all that is for them out
            found = _loaded(folder, f"{described}devices = {json.dumps(devices)}\n", app)
    except InputError:
        return
    yield from found


def _loaded(folder: Path, described: str, app: str) -> list[Specimen]:
    write(folder / "system.toml", described)
    return [specimen for specimen in _of(system.load(folder)) if specimen.image.name == app]


def _driven(found: Iterable[Specimen]) -> list[str]:
    """The devices of the board that libraries of an image drive, one of each kind."""
    devices = {}
    for specimen in found:
        kinds = {kind for library in specimen.image.libraries for kind in library.drives}
        for name, device in specimen.system.board.devices.items():
            if device.kind in kinds:
                devices.setdefault(device.kind, name)
    return sorted(devices.values())


def choose(candidates: Iterable[Specimen]) -> list[Specimen]:
    """Images that together have everything the candidates have, in each kind: first those for the
    libraries, then for each setting one whose libraries are in another without it.
    """
    ordered = sorted(candidates, key=_plainness)
    seen: dict[str, set[str]] = {}
    chosen = []
    for specimen in ordered:
        known = seen.setdefault(specimen.image.kind, set())
        if specimen.libraries - known:
            known |= specimen.libraries
            chosen.append(specimen)
    for specimen in ordered:
        known = seen[specimen.image.kind]
        if specimen.settings - known and specimen not in chosen and _is_held(specimen, chosen):
            known |= specimen.settings
            chosen.append(specimen)
    return chosen


def _is_held(specimen: Specimen, others: Iterable[Specimen]) -> bool:
    """Whether each library of an image is in another of its kind that has none of its settings."""
    without = (
        other.libraries
        for other in others
        if other.image.kind == specimen.image.kind and not other.settings & specimen.settings
    )
    return specimen.libraries <= frozenset().union(*without)


def _plainness(specimen: Specimen) -> tuple[int, int, str]:
    lines = specimen.image.config.minimal.splitlines()
    return len(lines), len(specimen.libraries), specimen.name


def is_of_system(specimen: Specimen) -> bool:
    """Whether it is an image of a system of the tree."""
    return catalogue.is_system_folder(specimen.system.file.parent)
