"""Mutation tests of pure crates with cargo-mutants: which changes of code no host test detects.

cargo-mutants is installed below `.tenon/` on first use, in the version stated here. Survivors that
no test can kill stand in `survivors.toml` with their reasons; any other one fails the command.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tenonos import paths
from tenonos.errors import InputError, WorkError
from tenonos.pace import Pace
from tenonos.setup import cargo_tool, rust
from tenonos.setup.cargo_tool import call

VERSION = "27.1.0"
OUTPUT = paths.DOT / "mutants"
FOLDER = Path(__file__).parent
CONFIG = FOLDER / "mutants.toml"
EXPLAINED = FOLDER / "survivors.toml"
TIMEOUT = 60
"""Seconds of a crate's tests with a mutant: one that hangs counts as detected."""

OUTCOMES = ("caught", "timeout", "missed", "unviable")
"""The lists of mutants that cargo-mutants writes."""
_FOUND = re.compile(r"^Found (\d+) mutants? to test", re.MULTILINE)
_PLACE = re.compile(r"^(?P<file>[^:]+):(?:\d+:\d+: )?\s*")


@dataclass(frozen=True)
class Listed:
    """A crate on the list."""

    users: tuple[str, ...] = ()
    """Crates whose host tests count too: they use the crate."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why no host test can detect a mutant, by its name."""


@dataclass(frozen=True)
class Found:
    """The mutants of a crate."""

    crate: str
    detected: int
    unviable: int
    """Those that do not compile."""
    explained: int
    survivors: tuple[str, ...]


def listed(file: Path = EXPLAINED) -> dict[str, Listed]:
    """The crates on the list, with the reasons of their survivors."""
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    return {crate: Listed(tuple(table.pop("users", ())), table) for crate, table in tables.items()}


def provide() -> Path:
    """The program, installed if it is missing."""
    return cargo_tool.provide("cargo-mutants", VERSION, "./tenon mutants")


class Progress:
    """The progress of a run of cargo-mutants, by its log and its lists of outcomes."""

    def __init__(self, log: Path, folder: Path, tell: Callable[[str], None]) -> None:
        self._log, self._folder, self._tell = log, folder, tell
        self._pace: Pace | None = None
        for name in OUTCOMES:  # those of a former run
            (folder / f"{name}.txt").unlink(missing_ok=True)

    def look(self) -> None:
        """State how many mutants are tested, and how long the others will take."""
        if self._pace is None:
            found = _FOUND.search(self._log.read_text(errors="replace"))
            if found is None:
                self._tell("looking for mutants")
                return
            self._pace = Pace(int(found[1]))
        files = [self._folder / f"{name}.txt" for name in OUTCOMES]
        done = sum(file.read_bytes().count(b"\n") for file in files if file.exists())
        self._tell(self._pace.at(done))


def try_out(program: Path, crate: str, tell: Callable[[str], None]) -> Found:
    """Test all mutants of a crate, one after the other."""
    output = paths.ensure(OUTPUT / crate)
    entry = listed().get(crate, Listed())
    line = [
        *(str(program), "mutants", "--package", crate, "--config", str(CONFIG)),
        *("--output", str(output), "--timeout", str(TIMEOUT), "--line-col=false"),
        # The copies that it mutates have no `.tenon`, which has gigabytes.
        *("--colors", "never", "--no-shuffle", "--gitignore=true"),
        *("--test-package", ",".join([crate, *entry.users])),
    ]
    _, environment = rust.cargo("mutants")
    # Without optimisation the tests take longer than the builds; assertions stay.
    environment |= {"CARGO_PROFILE_TEST_OPT_LEVEL": "1"}
    log = output / "log"
    progress = Progress(log, output / "mutants.out", tell)
    status = call(line, environment, log, progress.look)
    # 0: none survived; 2: some did; 3: tests with some of them hung (cargo-mutants, exit codes).
    if status not in (0, 2, 3):
        raise WorkError(f"cargo-mutants ended with status {status}", paths.shown(log))
    return read(crate, output / "mutants.out", entry.reasons)


def read(crate: str, folder: Path, reasons: dict[str, str]) -> Found:
    """The outcome in a folder of cargo-mutants."""
    outcomes = {
        name: (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in OUTCOMES
    }
    missed = [_name(line) for line in outcomes["missed"]]
    unknown = tuple(name for name in missed if name not in reasons)
    return Found(
        crate=crate,
        detected=len(outcomes["caught"]) + len(outcomes["timeout"]),
        unviable=len(outcomes["unviable"]),
        explained=len(missed) - len(unknown),
        survivors=unknown,
    )


def _name(line: str) -> str:
    """A mutant without its place in the file."""
    match = _PLACE.match(line)
    return line if match is None else f"{match['file']}: {line[match.end() :]}"


def chosen(crates: Sequence[str] | None) -> list[str]:
    """The crates to test: those named, or all on the list."""
    known = list(listed())
    unknown = [crate for crate in crates or () if not re.fullmatch(r"[a-z][a-z0-9-]*", crate)]
    if unknown:
        raise InputError(
            f"not the name of a crate: {unknown[0]!r}", mend=f"there are {', '.join(known)}"
        )
    return list(crates or known)
