"""What processes do one at a time: two may build, or fetch, in one clone at once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenonos.paths import ensure

FILE = "lock"
"""In the folder that one is alone in."""


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Nobody else is in a block for this folder. Not to be nested: it would wait for itself.

    Whoever is in it may remove the folder: who waited for it then begins with a new one.
    """
    while True:
        with (ensure(folder) / FILE).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_there(folder / FILE, lock.fileno()):
                yield
                return


def _is_there(file: Path, descriptor: int) -> bool:
    """Whether a file is still the one that was opened."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
