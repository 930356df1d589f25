"""The applications and systems of the clone, by name.

Examples, tests and benches each have folders of them. A name is unique over all folders of its
kind, so that it alone says what is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path

from tenonos import inputs
from tenonos.errors import InputError
from tenonos.paths import ROOT

APPS = ("examples/apps", "pool/apps", "tests/guests", "bench/apps")
"""Folders of applications: examples, what `compose` chooses from, guests of tests, benches."""

SYSTEMS = ("examples/systems", "tests/systems", "bench/systems")
"""Folders of systems: examples first, as they are listed."""

MOVED = ("apps", "systems")
"""Former top-level folders; their contents are in the folders above."""

RENAMED_APPS = {
    "caller": "vlib-test",
    "client": "vlib-bench",
    "conveyor": "producer-consumer",
    "courier": "mqueue-client",
    "crew": "task-set",
    "drill": "lifecycle-preemption-test",
    "floats": "fp-test",
    "foreman": "job-manager",
    "herald": "publisher",
    "inversion": "priority-inversion",
    "lookout": "image-client",
    "mirror": "channel-peer",
    "parley": "channel-test",
    "probe": "exit-bench",
    "reaper": "random-restarter",
    "rivals": "lifecycle-race-test",
    "steward": "lifecycle-test",
    "storm": "interrupt-storm",
    "tally": "sum-job",
    "turns": "time-slice-test",
    "wild": "random-exit-fuzzer",
}
"""Former names of applications."""

RENAMED_SYSTEMS = {
    "cards": "pci-cards",
    "conveyor": "producer-consumer",
    "courier": "mqueue-channel",
    "foreman": "job-manager",
    "inversion": "priority-inversion",
    "kills": "random-restarts",
    "parley": "channels",
    "parley-one-core": "channels-one-core",
    "rivals": "lifecycle-race",
    "selftest-turns": "selftest-time-slices",
    "storm": "interrupt-storm",
    "two-managers": "lifecycle-preemption",
    "wild": "random-exits",
    "wild-checked": "random-exits-checked",
}
"""Former names of systems."""


def apps(root: Path = ROOT) -> dict[str, Path]:
    """The folders of applications by name."""
    return _by_name(root, "application", (f for f in _folders(root, APPS) if is_app(f)))


def systems(root: Path = ROOT) -> dict[str, Path]:
    """The folders of systems by name, examples first."""
    found = (f for f in _folders(root, SYSTEMS) if (f / "system.toml").is_file())
    return _by_name(root, "system", found)


def description(folder: Path) -> str:
    """What a system is for: the comment that its `system.toml` opens with."""
    lines = inputs.text(folder / "system.toml").splitlines()
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


def is_example(folder: Path) -> bool:
    """Whether a system is an example."""
    return _is_below(folder, SYSTEMS[:1])


def unknown(asked: str | Path, known: Mapping[str, Path], renamed: Mapping[str, str]) -> str | None:
    """What to write instead of a former name or path; None if `asked` is neither."""
    path = Path(asked)
    name = renamed.get(path.name, path.name)
    former = path.parent.name in MOVED or (path.name == str(asked) and name != path.name)
    if not former or name not in known:
        return None
    return f'write "{name}", which is in {known[name].relative_to(ROOT)} now'


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
