"""Specimens: the images to measure, chosen from the systems of the tree.

Of each kind the simplest images are taken, with the fewest settings off their defaults and the
fewest libraries, until every library of a system is in one, and every setting is off its default in
one. So the specimens need no list, and are images that the tests build anyway. An application in no
system is measured alone in a VM, a capability that is a setting with the demo's application. Images
without a kernel are excluded: no composition contains them, and they have no kernel's cost.
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
"""The first part of the name of a setting's card, in place of a layer."""
TYPICAL = "motor"
"""Application for settings that no system uses."""
SEVERAL = ("TENON_THREAD_CORES", "4")
"""A setting used only with programs that are larger because of it."""
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
        """Its libraries."""
        return frozenset(library.id for library in self.image.libraries)

    @property
    def settings(self) -> frozenset[str]:
        """The settings that are off their defaults, as cards are named.

        Numbers of Mortise are excluded: they follow from the system, and size memory.
        """
        return settings(self.image)

    @property
    def parts(self) -> frozenset[str]:
        """Its parts with cards."""
        return self.libraries | self.settings

    @property
    def options(self) -> str:
        """Its settings off their defaults, and its compiler options."""
        return f"{self.image.config.minimal}{self.image.optimisation} {self.image.flags}"

    @property
    def left_out(self) -> int:
        """The number of default settings that are off."""
        return sum(line.endswith("is not set") for line in self.image.config.minimal.splitlines())

    def built(self) -> Path:
        """Build it; its ELF."""
        folder = build.folder(self.system)
        with exclusive(folder):
            return build.compiled(self.image, folder)


def settings(image: Image) -> frozenset[str]:
    """The settings of an image with cards of their own."""
    found = (_LINE.fullmatch(line) for line in image.config.minimal.splitlines())
    return frozenset(
        f"{SETTINGS}/{line[1]}"
        for line in found
        if line and not line[1].startswith(_CHOICES) and not (line[2] and image.kind == "mortise")
    )


def of_tree() -> Iterator[Specimen]:
    """Candidates: images of all systems of the tree, and of parts that no system has."""
    found = list(of_systems())
    yield from found
    yield from _alone({part for specimen in found for part in specimen.parts})


def of_systems() -> Iterator[Specimen]:
    """All images with a kernel, of all systems of the tree made of the pool alone."""
    for _, folder in sorted(catalogue.systems().items()):
        yield from _of(system.load(folder))


def _of(loaded: System) -> Iterator[Specimen]:
    for image in images(loaded):
        own = any(library.is_outside for library in image.libraries)
        if image.root.root == image.kind and not own:
            yield Specimen(loaded, image)


def _alone(known: Collection[str]) -> Iterator[Specimen]:
    """Images for the applications and capabilities that no system uses.

    A part that needs more than one VM must be in a system.
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
        if devices := _driven(found):  # without devices their drivers are optimised out
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
    """A covering set of images of each kind: first for the libraries, then for each setting an
    image with libraries that are also measured without the setting."""
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
    """Whether each library of an image is in another of its kind without its settings."""
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
