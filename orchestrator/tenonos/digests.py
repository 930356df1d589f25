"""Digests of input files, which decide when an artefact is rebuilt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def add(digest: hashlib._Hash, files: Iterable[Path], base: Path | None = None) -> None:
    """Add files with their names: absolute, or relative to a folder."""
    for file in files:
        name = file if base is None else file.relative_to(base)
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
