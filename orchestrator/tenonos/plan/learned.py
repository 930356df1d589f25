"""What Kconfig does not say, and building and booting showed: which settings images need.

A dependency holds for images with at least the libraries of the one it was seen in. They are kept
in `bench/dependencies.toml`, with what happened without; who removes one there has it forgotten.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from pydantic import ValidationError

from tenonos import outputs
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
    """What became of an image that had it otherwise."""

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """What it is about; of two the later one is right."""
        return self.symbol, self.when

    def holds_for(self, chosen: Set[str]) -> bool:
        """Whether an image is one of those."""
        return chosen >= {*self.when}

    def clause(self, literals: Mapping[str, int]) -> list[int] | None:
        """The same for a solver; none of a tree in which something of it is not."""
        if not literals.keys() >= {self.symbol, *self.when}:
            return None
        needed = literals[self.symbol] if self.value else -literals[self.symbol]
        return [*(-literals[name] for name in self.when), needed]

    @property
    def text(self) -> str:
        """As it is kept."""
        when = "".join(f'    "{name}",\n' for name in self.when)
        value = str(self.value).lower()
        why = "".join(c for c in self.why if c.isprintable() and c not in '"\\')
        head = f'[[needs]]\nsymbol = "{self.symbol}"\nvalue = {value}\nwhy = "{why}"\n'
        return f"{head}when = [\n{when}]\n"


def load(root: Path = ROOT) -> list[Dependency]:
    """What was learned."""
    file = root / FILE
    if not file.exists():
        return []
    try:
        return [Dependency(**each) for each in tomllib.loads(file.read_text()).get("needs", [])]
    except (tomllib.TOMLDecodeError, ValidationError, TypeError, UnicodeDecodeError):
        what, mend = "it is not a list of dependencies", "explore again without it"
        raise InputError(what, where=shown(file), mend=mend) from None


def keep(
    found: Iterable[Dependency], undone: Set[tuple[str, tuple[str, ...]]], root: Path = ROOT
) -> list[Dependency]:
    """Keep what was found, and no longer what was seen not to be so; what is new of it."""
    before = {one.key: one for one in load(root)}
    after = {key: one for key, one in before.items() if key not in undone}
    after |= {one.key: one for one in found}
    if after != before:
        parts = [one.text for _, one in sorted(after.items())]
        outputs.write(root / FILE, "\n".join([_HEAD, *parts]))
    return [one for key, one in after.items() if before.get(key) != one]
