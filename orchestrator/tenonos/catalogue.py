"""The applications and systems of the clone, by name.

Examples, tests and benches each have folders of them. A name is unique over all folders of its
kind, so that it alone says what is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path

from tenonos.errors import InputError
from tenonos.paths import ROOT

APPS = ("examples/apps", "pool/apps", "tests/guests", "bench/apps")
"""Folders of applications: examples, what `compose` chooses from, guests of tests, benches."""

SYSTEMS = ("examples/systems", "tests/systems", "bench/systems")
"""Folders of systems: examples first, as they are listed."""

MOVED = {"apps": APPS, "systems": SYSTEMS}
"""Former top-level folders, and where their contents are now."""


def apps(root: Path = ROOT) -> dict[str, Path]:
    """The folders of applications by name."""
    return _by_name(root, "application", (f for f in _folders(root, APPS) if is_app(f)))


def systems(root: Path = ROOT) -> dict[str, Path]:
    """The folders of systems by name, examples first."""
    found = (f for f in _folders(root, SYSTEMS) if (f / "system.toml").is_file())
    return _by_name(root, "system", found)


def description(folder: Path) -> str:
    """What a system is for: the comment that its `system.toml` opens with."""
    lines = (folder / "system.toml").read_text().splitlines()
    return " ".join(line.removeprefix("#").strip() for line in takewhile(_is_comment, lines))


def _is_comment(line: str) -> bool:
    return line.startswith("#")


def is_app(folder: Path) -> bool:
    """Whether there is an application in `folder`, in Rust or in C."""
    return (folder / "Cargo.toml").is_file() or is_c(folder)


def is_c(folder: Path) -> bool:
    """Whether what is in `folder` is an application in C."""
    return not (folder / "Cargo.toml").exists() and any(folder.glob("*.c"))


def is_app_folder(folder: Path) -> bool:
    """Whether `folder` is directly below a folder of applications of the clone."""
    return _is_below(folder, APPS)


def is_system_folder(folder: Path) -> bool:
    """Whether `folder` is directly below a folder of systems of the clone."""
    return _is_below(folder, SYSTEMS)


def hint(asked: str | Path, known: Mapping[str, Path]) -> str | None:
    """Where something is now that `asked` names by a path it had before; None if it names none."""
    path = Path(asked)
    folder = known.get(path.name)
    if folder is None or path.parent.name not in MOVED:
        return None
    return f"it is in {folder.relative_to(ROOT)} now; the name alone, {path.name}, is enough"


def _is_below(folder: Path, places: Iterable[str]) -> bool:
    return any(folder.parent == ROOT / place for place in places)


def _folders(root: Path, places: Iterable[str]) -> Iterable[Path]:
    return (folder for place in places for folder in sorted((root / place).glob("*/")))


def _by_name(root: Path, kind: str, folders: Iterable[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders:
        other = found.setdefault(folder.name, folder)
        if other != folder:
            raise InputError(
                f'two folders of the {kind} "{folder.name}"',
                where=str(folder.relative_to(root)),
                mend=f"rename it or {other.relative_to(root)}",
            )
    return found
