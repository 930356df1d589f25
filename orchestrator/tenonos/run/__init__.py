"""Runs of built systems: emulator, consoles, measurement window, live screen and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tenonos.run.result import Result
from tenonos.run.session import Observer, RunOptions, Session
from tenonos.run.target import Target

if TYPE_CHECKING:
    from tenonos.build import Built

__all__ = ["Observer", "Result", "RunOptions", "Session", "Target", "run"]


def run(built: Built, options: RunOptions, observers: Sequence[Observer] = ()) -> Result:
    """Boot a built system and watch it to its end."""
    return Session(Target.of(built), options, observers).run()
