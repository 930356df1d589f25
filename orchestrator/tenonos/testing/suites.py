"""The suites by name, in the order they run: the quick ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tenonos import paths, ui
from tenonos.errors import TenonError
from tenonos.setup import browser, lightrag
from tenonos.testing import cargo, pytest
from tenonos.testing.cargo import Show
from tenonos.testing.count import Count


@dataclass(frozen=True)
class Suite:
    """One kind of test, and whether plain `./tenon test` includes it."""

    name: str
    purpose: str
    run: Callable[[Show, int], Count]
    """Says what it is at; uses so many lanes if it can."""
    usual: bool = True


def _python(name: str, folder: str, silence: float, **how: bool) -> Callable[[Show, int], Count]:
    return partial(pytest.run, name, paths.ROOT / folder, silence, **how)


def _one_lane(run: Callable[[Show, int], Count]) -> Callable[[Show, int], Count]:
    """Of a suite that has the machine to itself."""
    return lambda show, _: run(show, 1)


def _orchestrator(show: Show, lanes: int) -> Count:
    """Its pages are tried in a browser, its retrieval by LightRAG too: nobody else needs either."""
    browser.provide()
    try:
        lightrag.provide()
    except TenonError as error:
        ui.warn(f"retrieval by LightRAG is not tested: {error}")
    return _python("python", "orchestrator/tests", 180, by_folder=True)(show, lanes)


SUITES = (
    Suite("python", "the orchestrator", _orchestrator),
    Suite("host", "the libraries' logic", cargo.run),
    Suite("target", "whole systems in QEMU", _python("target", "tests/target", 900)),
    Suite(
        "bootstrap",
        "the way in, on minimal Debian systems",
        _one_lane(_python("bootstrap", "tests/bootstrap", 2400)),
        usual=False,
    ),
)
