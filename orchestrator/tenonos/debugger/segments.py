"""Segments of an image."""

from __future__ import annotations

import struct
from pathlib import Path

_PT_LOAD = 1
_WRITE = 2


def writable(elf: str, limit: int) -> list[tuple[int, int]]:
    """Address and size of the writable segments of a 64-bit ELF file, at most `limit` bytes."""
    data = Path(elf).read_bytes()
    at, entry, count = struct.unpack_from("<32xQ14xHH", data)
    found = []
    for index in range(count):
        kind, flags, _, address, _, _, size, _ = struct.unpack_from(
            "<IIQQQQQQ", data, at + index * entry
        )
        if kind == _PT_LOAD and flags & _WRITE and size:
            found.append((address, min(size, limit)))
            limit -= found[-1][1]
    return found
