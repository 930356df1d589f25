"""Objectives of `bench/objectives`, and validation of answers."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tenonos import paths
from tenonos.errors import InputError
from tenonos.plan.models import Composition, Model

FOLDER = paths.ROOT / "bench" / "objectives"
PARTS = ("tuning", "test")

Part = Literal["tuning", "test"]


class Objective(Model):
    """An objective with the properties of a correct answer; see the README beside the files."""

    phrasing: str
    """Its class: the name of its file."""
    part: Part
    text: str
    answer: Literal["images", "missing", "conflict"] = "images"
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    tenon: int | None = None
    linux: int | None = None
    missing: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def faults(self, answer: Composition) -> list[str]:
        """The errors of an answer; empty for a correct one."""
        given = next((k for k in ("images", "missing", "conflict") if getattr(answer, k)), "none")
        if given != self.answer:
            return [f"{given} for {self.answer}"]
        return [*self._of_images(answer), *self._of_plan(answer), *self._of_words(answer)]

    def _of_images(self, answer: Composition) -> Iterator[str]:
        images = answer.images.values()
        there = {
            name
            for image in images
            for name in image.capabilities
            # Other capabilities of the hypervisor are not part of a demand for VMs.
            if image.kind != "mortise" or name.startswith("virt.")
        }
        yield from (f"no {name}" for name in self.must if name not in there)
        yield from (f"{name} is there" for name in self.must_not if name in there)
        for kind, wanted in (("tenon", self.tenon), ("linux", self.linux)):
            count = sum(image.kind == kind for image in images)
            if wanted is not None and count != wanted:
                yield f"{count} {kind} for {wanted}"

    def _of_plan(self, answer: Composition) -> Iterator[str]:
        known = Counter(f"{item.kind} {item.value}" for item in answer.plan)
        wanted = Counter(item.replace("_", "") for item in self.plan)
        yield from (f"not in the plan: {item}" for item in wanted - known)
        clashing = {f"{clash.kind} {clash.value}" for clash in answer.conflict}
        clashes = (item.replace("_", "") for item in self.conflict)
        yield from (f"not in the conflict: {item}" for item in clashes if item not in clashing)

    def _of_words(self, answer: Composition) -> Iterator[str]:
        for words in self.missing:
            found = (m.capability == words or words in (m.source or "") for m in answer.missing)
            if not any(found):
                yield f"not missing: {words}"
        for words in self.ignored:
            if not any(words in (said.source or "") for said in answer.ignored):
                yield f"not ignored: {words}"


def objectives(folder: Path = FOLDER) -> list[Objective]:
    """All objectives, by class."""
    return [found for file in sorted(folder.glob("*.toml")) for found in _of_file(file)]


def _of_file(file: Path) -> Sequence[Objective]:
    table = tomllib.loads(file.read_text())
    try:
        return [
            Objective(phrasing=file.stem, part=part, **entry)
            for part, entries in table.items()
            for entry in entries
        ]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: {first['msg']}", paths.shown(file)) from None
