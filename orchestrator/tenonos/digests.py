"""Digests of files: what decides how something turns out, and when it is to be made again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def add(digest: hashlib._Hash, files: Iterable[Path], base: Path | None = None) -> None:
    """Add files, each with its name: as it is, or from a folder on."""
    for file in files:
        name = file if base is None else file.relative_to(base)
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
