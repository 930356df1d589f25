"""Foreign Kconfig trees, read without running programs.

A tree may call programs while it is parsed, such as a compiler. Their output is taken to be `n`, a
valid value everywhere in Kconfig.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import kconfiglib

from tenonos.errors import InputError
from tenonos.pool.kconfig import Tree, first_line, isolated

FILE = "Kconfig"
_MODULES = re.compile(r"^(\s+)modules\s*$", re.MULTILINE)


class _Untrusted(kconfiglib.Kconfig):
    """A tree that reads files below its own folder only, and runs no programs."""

    def __init__(self, root: Path) -> None:
        self._root = root
        super().__init__(FILE, warn_to_stderr=False, suppress_traceback=False)

    def _fn_val(self, args: list[str]) -> str:
        return "n" if args[0] == "shell" else super()._fn_val(args)

    def _open(self, filename: str, mode: str) -> Any:
        file = Path(filename)
        if not file.resolve().is_relative_to(self._root):
            raise kconfiglib.KconfigError(f"{filename} is outside of the tree")
        text = file.read_text(encoding="utf-8", errors="replace")
        # As Linux has written it since 5.16.
        return io.StringIO(_MODULES.sub(r"\1option modules", text))


def load(folder: Path) -> Tree:
    """The tree with the top file `Kconfig` in a folder, with the variables of the environment."""
    root = folder.resolve()
    if not (root / FILE).is_file():
        raise InputError(f"there is no {FILE}", str(folder), "give the top of a Kconfig tree")
    with isolated(root):
        try:
            return Tree(_Untrusted(root))
        except (kconfiglib.KconfigError, OSError, RecursionError) as error:
            raise InputError(_reason(error, root), str(folder), _mend(error)) from None


def _reason(error: Exception, root: Path) -> str:
    """The error message of kconfiglib, without its advice."""
    return first_line(error).replace(f"{root}/", "").split(". Check that", 1)[0]


def _mend(error: Exception) -> str | None:
    """The remedy for a file name with an unset variable."""
    if "environment variables" not in str(error):
        return None
    return "set the variables that its Makefile does, such as SRCARCH=arm64"
