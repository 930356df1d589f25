"""Empty FAT volumes, for the files of disks that are made at their first run.

Microsoft FAT specification (FATGEN103): FAT16 on the whole disk, without a partition table.
"""

from __future__ import annotations

import struct
from pathlib import Path

SECTOR = 512
LEAST, MOST = 4 << 20, 1 << 30
"""Bytes between which a volume with such clusters is FAT16."""
_RESERVED, _TABLES, _ENTRIES, _MEDIA = 1, 2, 512, 0xF8
_CLUSTERS = 16_384
"""Clusters above which they become larger."""


def make(file: Path, size: int) -> None:
    """Make a file with an empty volume of `size` bytes, sparse, unless it is there. It appears as a
    whole: a run that is stopped leaves none in part."""
    if file.exists():
        return
    beside = file.with_name(f".{file.name}.new")
    with beside.open("wb") as made:
        made.write(_head(size // SECTOR))
        made.truncate(size)
    beside.rename(file)


def _head(sectors: int) -> bytes:
    """The boot sector and both tables; what follows is zero."""
    cluster = 1
    while sectors // cluster > _CLUSTERS:
        cluster *= 2
    table = -(-2 * (sectors // cluster + 2) // SECTOR)
    boot = struct.pack(
        "<3s8sHBHBHHBHHHII",
        *(b"\xeb\x3c\x90", b"TENONOS ", SECTOR, cluster, _RESERVED, _TABLES, _ENTRIES),
        *(sectors if sectors < 1 << 16 else 0, _MEDIA, table, 32, 2, 0),
        sectors if sectors >= 1 << 16 else 0,
    )
    boot += struct.pack("<BBBI11s8s", 0x80, 0, 0x29, 1, b"NO NAME    ", b"FAT16   ")
    first = b"\xf8\xff\xff\xff".ljust(table * SECTOR, b"\0")
    return boot.ljust(SECTOR - 2, b"\0") + b"\x55\xaa" + first * _TABLES
