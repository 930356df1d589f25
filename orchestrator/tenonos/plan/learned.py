"""Learned dependencies: settings that images need by experiment, unknown to Kconfig.

A dependency holds for images with at least the libraries of the one in which it was observed. They
are kept in `bench/dependencies.toml`, with the observed failure; removing an entry there discards
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from pydantic import ValidationError

from tenonos import inputs, outputs
from tenonos.errors import InputError
from tenonos.paths import ROOT, shown
from tenonos.plan.models import Model

FILE = Path("bench/dependencies.toml")
_HEAD = "# Found by `./tenon explore`: what an image was not good without.\n"


class Dependency(Model):
    """A setting that images with some libraries need."""

    symbol: str
    value: bool
    when: tuple[str, ...]
    """The symbols of the libraries, in order."""
    why: str
    """The failure of an image with another value."""

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """Its identity; the later of two entries is valid."""
        return self.symbol, self.when

    def holds_for(self, chosen: Set[str]) -> bool:
        """Whether it applies to an image with these libraries."""
        return chosen >= {*self.when}

    def clause(self, literals: Mapping[str, int]) -> list[int] | None:
        """The clause for a solver; none for a tree without one of its symbols."""
        if not literals.keys() >= {self.symbol, *self.when}:
            return None
        needed = literals[self.symbol] if self.value else -literals[self.symbol]
        return [*(-literals[name] for name in self.when), needed]

    @property
    def text(self) -> str:
        """Its text in the file."""
        when = "".join(f'    "{name}",\n' for name in self.when)
        value = str(self.value).lower()
        why = "".join(c for c in self.why if c.isprintable() and c not in '"\\')
        head = f'[[needs]]\nsymbol = "{self.symbol}"\nvalue = {value}\nwhy = "{why}"\n'
        return f"{head}when = [\n{when}]\n"


def load(root: Path = ROOT) -> list[Dependency]:
    """The learned dependencies."""
    file = root / FILE
    if not file.exists():
        return []
    try:
        return [
            Dependency(**each)
            for each in inputs.toml(inputs.text(file), shown(file)).get("needs", [])
        ]
    except (ValidationError, TypeError):
        what, mend = "it is not a list of dependencies", "explore again without it"
        raise InputError(what, where=shown(file), mend=mend) from None


def keep(
    found: Iterable[Dependency], undone: Set[tuple[str, tuple[str, ...]]], root: Path = ROOT
) -> list[Dependency]:
    """Add found dependencies and remove disproved ones; the new entries."""
    before = {one.key: one for one in load(root)}
    after = {key: one for key, one in before.items() if key not in undone}
    after |= {one.key: one for one in found}
    if after != before:
        parts = [one.text for _, one in sorted(after.items())]
        outputs.write(root / FILE, "\n".join([_HEAD, *parts]))
    return [one for key, one in after.items() if before.get(key) != one]
