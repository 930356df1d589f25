"""Errors of commands: wrong input and failed work.

Each becomes exactly one line on stderr: error, place and remedy. Any other exception is an internal
error and goes to a log file.
"""

from __future__ import annotations


class TenonError(Exception):
    """Common form of both: ``where: what; mend``."""

    status = 1

    def __init__(self, what: str, where: str | None = None, mend: str | None = None) -> None:
        self.what = what
        self.where = where
        self.mend = mend
        super().__init__(str(self))

    def __str__(self) -> str:
        line = self.what if self.where is None else f"{self.where}: {self.what}"
        line = line if self.mend is None else f"{line}; {self.mend}"
        return " ".join(line.split())


class InputError(TenonError):
    """Input that is wrong: an objective, a board, a `system.toml`, an option. Status 2.

    ``where`` is ``file:line`` when the input is a file.
    """

    status = 2


class WorkError(TenonError):
    """Work that failed: a build, a VM that died, a missed bound. Status 1."""
