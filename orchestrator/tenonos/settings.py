"""Global options of all commands, set by the command line.

Import the object, not its fields: `from tenonos.settings import SETTINGS`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Settings:
    """Global options of a command line."""

    quiet: bool = False
    verbose: bool = False
    yes: bool = False
    offline: bool = False
    locked: bool = False
    jobs: int = 0
    cpu: str | None = None
    """The emulator's CPU model, in place of the board's."""

    @property
    def parallel(self) -> int:
        """The number of jobs to run at once: `-j`, or one per core this process may use."""
        return self.jobs or _cores()


SETTINGS = Settings()
