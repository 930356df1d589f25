"""What processes do one at a time: two may build, or fetch, in one clone at once."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenonos.paths import ensure


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Nobody else is in a block for this folder. Not to be nested: it would wait for itself."""
    with (ensure(folder) / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
