"""Design space of a composition: settings that can change with all demands satisfied."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import kconfiglib as kc

from tenonos.errors import InputError
from tenonos.plan.models import Composition
from tenonos.plan.pool import Pool
from tenonos.pool.kconfig import PREFIX, Config, assignments

CHOSEN = ("LIB_", "APP_", "IMAGE_", "BOARD_", "CAP_")
"""Symbols of an image that follow from the demands and stay fixed."""
FRAGMENT = ".config"


@dataclass(frozen=True, order=True)
class Deviation:
    """One setting of one image that differs from the composition."""

    image: str
    symbol: str
    value: bool

    def __str__(self) -> str:
        return f"{self.image}: {'' if self.value else 'no '}{self.symbol}"

    @property
    def line(self) -> str:
        """Its line in a configuration."""
        name = f"{PREFIX}{self.symbol}"
        return f"{name}=y\n" if self.value else f"# {name} is not set\n"


Alternative = tuple[Deviation, ...]
"""A sorted set of deviations; empty for the composition itself."""


@dataclass(frozen=True)
class Space:
    """A composition with its open settings."""

    files: Mapping[str, str]
    """The files of the composition, by name."""
    pool: Pool

    @classmethod
    def of(cls, answer: Composition, pool: Pool) -> Space:
        """The space around an accepted composition."""
        return cls(answer.files, pool)

    @cached_property
    def settings(self) -> list[Deviation]:
        """Each setting that can change alone."""
        return sorted(deviation for image in self._images for deviation in self._of_image(image))

    def libraries(self, image: str) -> tuple[str, ...]:
        """The symbols of an image's libraries."""
        return tuple(sorted(self._composed[image].libraries))

    def kind(self, image: str) -> str:
        """The kind of an image."""
        return str(self._explanation["images"][image]["kind"])

    def joined(self, one: Alternative, other: Alternative) -> Alternative | None:
        """Both together, if neither reverts the other."""
        both = tuple(sorted({*one, *other}))
        return both if all(self._holds(both, image) for image in {d.image for d in both}) else None

    def made(self, alternative: Alternative) -> dict[str, str]:
        """The files of an alternative."""
        files = dict(self.files)
        for deviation in alternative:
            name = deviation.image + FRAGMENT
            stays = [line for line in files[name].splitlines() if not self._undone(line, deviation)]
            files[name] = "\n".join([*stays, deviation.line])
        return files

    def _undone(self, line: str, deviation: Deviation) -> bool:
        """Whether a line sets a symbol of a deviation, or another one of its choice."""
        symbols = self.pool.tree.symbols
        choice = symbols[deviation.symbol].choice
        alike = {s.name for s in choice.syms} if choice is not None else {deviation.symbol}
        return any(a.symbol in alike for a in assignments(line, deviation.image))

    def _of_image(self, image: str) -> Iterator[Deviation]:
        config = self._composed[image]
        for name, symbol in self.pool.tree.symbols.items():
            if name.startswith(CHOSEN) or symbol.orig_type != kc.BOOL or not _asked(symbol):
                continue
            value = not config[name]
            if symbol.choice is not None and not value:
                continue  # another one of the choice does that
            deviation = Deviation(image, name, value)
            if self._holds((deviation,), image):
                yield deviation

    def _holds(self, alternative: Alternative, image: str) -> bool:
        """Whether the settings are valid and the image still satisfies the demands."""
        own = tuple(deviation for deviation in alternative if deviation.image == image)
        config = self._evaluated(image, own)
        if config is None or any(config[d.symbol] is not d.value for d in own):
            return False
        kept = {*self._explanation["demanded"][image], *self._composed[image].libraries}
        return kept <= config.enabled and not self._forbidden & config.enabled

    def _evaluated(self, image: str, deviations: Alternative) -> Config | None:
        try:
            return self._configured(image, self.made(deviations))
        except InputError:
            return None

    def _configured(self, image: str, files: Mapping[str, str]) -> Config:
        return self.pool.tree.evaluate(assignments(files[image + FRAGMENT], image))

    @cached_property
    def _composed(self) -> dict[str, Config]:
        """The configuration of each image as composed."""
        return {image: self._configured(image, self.files) for image in self._images}

    @cached_property
    def _images(self) -> list[str]:
        names = sorted(name for name in self.files if name.endswith(FRAGMENT))
        return [name.removesuffix(FRAGMENT) for name in names]

    @cached_property
    def _explanation(self) -> dict[str, Any]:
        return dict(json.loads(self.files["explain.json"]))

    @cached_property
    def _forbidden(self) -> set[str]:
        plan = self._explanation["plan"]
        return {self.pool.symbol(i["value"]) for i in plan if i["kind"] == "forbid"}


def _asked(symbol: kc.Symbol) -> bool:
    """Whether a user can set it in `./tenon config`."""
    return any(node.prompt for node in symbol.nodes)


def shortened(alternative: Alternative) -> str:
    """The deviations, in a line."""
    return ", ".join(map(str, alternative)) or "as composed"


def as_json(alternative: Alternative) -> list[dict[str, str | bool]]:
    """The deviations, as JSON."""
    return [{"image": d.image, "symbol": d.symbol, "value": d.value} for d in alternative]
