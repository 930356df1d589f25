"""Restriction of callers' paths to one folder, and to systems of the clone."""

from __future__ import annotations

from pathlib import Path

from tenonos import catalogue
from tenonos import system as systems
from tenonos.errors import InputError


class Project:
    """The root folder of relative paths, which must stay inside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def inside(self, asked: str, what: str) -> str:
        """The resolved path, without symbolic links."""
        path = self._resolved(asked, what)
        if not path.is_relative_to(self.folder):
            raise self._outside(asked, what)
        return str(path)

    def system(self, asked: str) -> str:
        """A system by its name in the clone, or in the folder."""
        meant = asked if asked in systems.names() else self.inside(asked, "system")
        file = systems.find(meant)
        if not (file.is_relative_to(self.folder) or catalogue.is_system_folder(file.parent)):
            raise self._outside(asked, "system")
        return meant

    def _resolved(self, asked: str, what: str) -> Path:
        try:
            return (self.folder / asked).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a zero byte
            raise InputError(f"not a path: {asked!r} ({error})", what) from None

    def _outside(self, asked: str, what: str) -> InputError:
        mend = "name a place below it, or start the server with -C DIR"
        return InputError(f"{asked} leads out of {self.folder}", what, mend)
