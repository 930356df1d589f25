"""The suites by name, in the order they run: the quick ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tenonos import paths, ui
from tenonos.errors import TenonError
from tenonos.setup import browser, lightrag
from tools.testing import cargo, pytest
from tools.testing.cargo import Show
from tools.testing.count import Count
from tools.testing.selection import LongTest, Selection

Run = Callable[[Show, int, Selection], Count]
"""Runs the selected tests in so many lanes if it can, and shows which one runs."""


@dataclass(frozen=True)
class Suite:
    """One kind of test, and whether plain `./tenon test` includes it."""

    name: str
    purpose: str
    run: Run
    folders: tuple[Path, ...] = ()
    """Where its test files are; none for the tests beside the libraries' code."""
    usual: bool = True

    def holds(self, selection: Selection) -> bool:
        """Whether the places that a selection names have tests of this suite."""
        if not self.folders:
            return cargo.holds(selection)
        return any(map(selection.admits, self.folders))

    def left_out(self, selection: Selection) -> list[LongTest]:
        """The long tests that a run of the selection leaves out."""
        return selection.left_out(selection.files(*self.folders)) if self.folders else []


def _python(name: str, folders: tuple[Path, ...], silence: float, **how: bool) -> Run:
    def run(show: Show, lanes: int, selection: Selection) -> Count:
        return pytest.run(name, folders, silence, show, lanes, selection, **how)

    return run


def _one_lane(run: Run) -> Run:
    """Of a suite that has the machine to itself."""
    return lambda show, _, selection: run(show, 1, selection)


def _orchestrator(show: Show, lanes: int, selection: Selection) -> Count:
    """The tests in Python of one process each, with the browser and the retrieval library that they
    need."""
    if not selection.is_narrow:
        browser.provide()
        try:
            lightrag.provide()
        except TenonError as error:
            ui.warn(f"retrieval by LightRAG is not tested: {error}")
    run = _python("python", PYTHON, 180, by_folder=True)
    return run(show, lanes, selection)


PYTHON = (paths.ROOT / "orchestrator/tests", paths.ROOT / "tools/tests")
TARGET = (paths.ROOT / "tests/target",)
BOOTSTRAP = (paths.ROOT / "tests/bootstrap",)

SUITES = (
    Suite("python", "the orchestrator and the tools", _orchestrator, PYTHON),
    Suite("host", "the libraries' logic", cargo.run),
    Suite(
        "target",
        "whole systems in QEMU",
        _python("target", TARGET, 900, has_long_forms=True),
        TARGET,
    ),
    Suite(
        "bootstrap",
        "the way in, on minimal Debian systems",
        _one_lane(_python("bootstrap", BOOTSTRAP, 2400)),
        BOOTSTRAP,
        usual=False,
    ),
)
