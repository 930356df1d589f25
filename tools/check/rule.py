"""A rule and what it finds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tenonos.paths import ROOT
from tenonos.pool.library import Index, index


@dataclass(frozen=True)
class Breach:
    """One place that keeps a rule not."""

    rule: str
    where: str
    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.where} {self.rule}: {self.what}; {self.mend}"


class Skipped(Exception):
    """A rule that cannot be tried here, and what it would need."""


@dataclass(frozen=True)
class Context:
    """The tree under examination."""

    root: Path = ROOT

    @cached_property
    def index(self) -> Index:
        """Its libraries."""
        return index(self.root)

    @cached_property
    def files(self) -> list[Path]:
        """The files git knows or would add; every file where there is no git."""
        command = ["git", "-C", str(self.root), "ls-files", "-z", "-c", "-o", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            found = [path for path in self.root.rglob("*") if path.is_file()]
        else:
            found = [self.root / name for name in done.stdout.split("\0") if name]
        return sorted({path for path in found if path.is_file() and not path.is_symlink()})

    def shown(self, path: Path, line: int | None = None) -> str:
        """`file:line`, from the root of the tree."""
        name = str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)
        return name if line is None else f"{name}:{line}"


@dataclass(frozen=True)
class Rule:
    """A rule: a short name that stays, its gist, its reason, and the program."""

    name: str
    gist: str
    reason: str
    find: Callable[[Context], Iterable[Breach]]
