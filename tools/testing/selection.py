"""Selection of tests: by suite, by path, by word, and which long ones a plain run leaves out.

A test marked `@pytest.mark.long(SECONDS, "FOLDER", …)`, or a file with such a `pytestmark`, takes
that many seconds of processor time and covers those folders. A plain run includes the long tests of
folders that the change touches, the cheapest first, up to `BUDGET`; it states how many it left out.
`--full` leaves out none.

The change is what differs from the upstream branch. Where the checkout is the upstream branch, as
in a fresh clone, it is the commits of the last day before the newest.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tenonos import paths
from tenonos.errors import InputError

BUDGET = 60
"""Seconds of processor time that long tests of a plain run may take together."""

DAY = 24 * 60 * 60


@dataclass(frozen=True, order=True)
class LongTest:
    """A test, or a file of tests, that a plain run may leave out."""

    seconds: int
    file: Path
    name: str
    """Empty for all of the file."""
    covers: tuple[str, ...]

    @property
    def node(self) -> str:
        """Its name for pytest, from the folder of pytest's settings."""
        file = str(self.file.relative_to(_settings(self.file)))
        return f"{file}::{self.name}" if self.name else file


def _settings(file: Path) -> Path:
    for folder in file.parents:
        if (folder / "pytest.ini").exists() or (folder / "pyproject.toml").exists():
            return folder
    return file.parent


def long_tests(files: Iterable[Path]) -> list[LongTest]:
    """The tests that are marked as long, read from the source."""
    found = []
    for file in files:
        text = file.read_text()
        if "mark.long" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            marks = getattr(node, "decorator_list", [])
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                value = node.value
                marks = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
            for mark in marks:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.long":
                    seconds, *covers = (ast.literal_eval(value) for value in mark.args)
                    name = getattr(node, "name", "")
                    found.append(LongTest(seconds, file, name, tuple(covers)))
    return found


@dataclass(frozen=True)
class Selection:
    """The tests that a command asks for."""

    places: tuple[Path, ...] = ()
    """Files or folders; empty for all."""
    tests: tuple[tuple[Path, str], ...] = ()
    """Of a file: the name of one test in it, where not all of the file was asked for."""
    words: str = ""
    """An expression of words that names must match, as pytest's -k has it."""
    full: bool = False
    since: str | None = None
    """The commit that the change is compared with; None for the default."""
    root: Path = paths.ROOT

    @property
    def is_narrow(self) -> bool:
        """Whether single tests were asked for, so that none of them is left out."""
        return bool(self.places or self.words)

    def admits(self, path: Path) -> bool:
        """Whether a file or folder lies in what was asked for, or holds some of it."""
        return not self.places or any(
            path.is_relative_to(place) or place.is_relative_to(path) for place in self.places
        )

    def files(self, *folders: Path) -> list[Path]:
        """The test files below the folders that may hold a test that was asked for.

        A file that was named may have the words in names of parameters only.
        """
        every = [file for folder in folders for file in sorted(folder.rglob("test_*.py"))]
        found = [file for file in every if self.admits(file)]
        return [file for file in found if file in self.places or self._mentions(file)]

    def nodes(self, files: Iterable[Path]) -> list[str]:
        """These files as pytest is to be told: whole, or as the single tests asked for."""
        named: dict[Path, list[str]] = {}
        for file, test in self.tests:
            named.setdefault(file, []).append(f"{file}::{test}")
        return [node for file in files for node in named.get(file, [str(file)])]

    def packages(self, crates: Iterable[tuple[str, Path]]) -> list[str]:
        """The packages, of (package, folder), that may hold a test that was asked for."""
        return [
            package
            for package, folder in crates
            if self.admits(folder)
            and (not self.words or any(self._mentions(file) for file in folder.rglob("*.rs")))
        ]

    def _mentions(self, file: Path) -> bool:
        words = set(re.findall(r"\w+", self.words.lower())) - {"and", "or", "not"}
        if not words:
            return True
        text = f"{file}\n{file.read_text(errors='replace')}".lower()
        return any(word in text for word in words)

    def left_out(self, files: Iterable[Path]) -> list[LongTest]:
        """The long tests of these files that this run leaves out."""
        if self.full or self.is_narrow:
            return []
        rest, spent = [], 0
        for test in sorted(long_tests(files)):
            touched = any(name.startswith(test.covers) for name in self.changed)
            touched |= str(test.file.relative_to(self.root)) in self.changed
            if touched and spent + test.seconds <= BUDGET:
                spent += test.seconds
            else:
                rest.append(test)
        return rest

    @cached_property
    def changed(self) -> frozenset[str]:
        """The files, from the root of the tree, that the change touches."""
        base = self.since or self._base()
        if base is None:
            return frozenset()
        found = self._git("diff", "--name-only", base)
        if found is None:
            raise InputError(f"git knows no {base}", mend="name a commit or branch")
        more = self._git("ls-files", "--others", "--exclude-standard") or ""
        return frozenset(found.split("\n") + more.split("\n")) - {""}

    def _base(self) -> str | None:
        head = self._git("rev-parse", "HEAD")
        upstream = self._git("merge-base", "HEAD", "@{upstream}")
        if head is None or (upstream and upstream != head):
            return upstream
        newest = self._git("log", "-1", "--format=%ct") or "0"
        return self._git("rev-list", "-1", f"--before={int(newest) - DAY}", "HEAD") or None

    def _git(self, *words: str) -> str | None:
        command = ["git", "-C", str(self.root), *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError:
            return None
        return None if done.returncode else done.stdout.strip()


ALL = Selection()
"""What a plain run asks for."""


def named(
    words: Iterable[str], folder: Path
) -> tuple[tuple[Path, ...], tuple[tuple[Path, str], ...]]:
    """The places and single tests that words of a command line name, seen from `folder`."""
    places, tests = [], []
    for word in words:
        name, _, test = word.partition("::")
        bases = (folder, paths.ROOT)
        place = next((base / name for base in bases if name and (base / name).exists()), None)
        if place is None:
            mend = "name a suite, a folder, a file, or a test as FILE::TEST"
            raise InputError(f"no tests named {word}", mend=mend)
        places.append(place.resolve())
        if test:
            tests.append((place.resolve(), test))
    return tuple(places), tuple(tests)
