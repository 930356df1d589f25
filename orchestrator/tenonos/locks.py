"""Locks between processes that build or fetch in the same clone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenonos.paths import ensure

FILE = "lock"
"""The lock file in the folder."""


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Exclusive use of a folder during the block. Not reentrant: nesting would deadlock.

    The holder may remove the folder; the next holder then starts with a new one.
    """
    while True:
        with (ensure(folder) / FILE).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_there(folder / FILE, lock.fileno()):
                yield
                return


def _is_there(file: Path, descriptor: int) -> bool:
    """Whether a path still refers to the opened file."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
