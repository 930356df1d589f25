"""Locks between processes that build or fetch in the same clone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tenonos import ui
from tenonos.paths import ensure, shown

FILE = "lock"
"""The lock file in the folder."""


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Exclusive use of a folder during the block. Not reentrant: nesting would deadlock.

    The holder may remove the folder; the next holder then starts with a new one.
    """
    while True:
        with (ensure(folder) / FILE).open("a+") as lock:
            _lock(lock, folder)
            if _is_there(folder / FILE, lock.fileno()):
                lock.truncate(0)
                lock.write(str(os.getpid()))
                lock.flush()
                yield
                return


def _lock(file: IO[str], folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read(20).strip()
        other = f"process {holder}" if holder.isdecimal() else "another process"
        with ui.awaiting(
            f"waiting for another ./tenon ({other}), which uses {shown(folder)}",
            "this one goes on after it, or ends by Ctrl-C",
        ):
            fcntl.flock(file, fcntl.LOCK_EX)


def _is_there(file: Path, descriptor: int) -> bool:
    """Whether a path still refers to the opened file."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
