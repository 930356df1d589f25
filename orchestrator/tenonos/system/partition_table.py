"""Partition tables of disks: MBR and GPT."""

from pathlib import Path
from typing import BinaryIO

from construct import Bytes, Int8ul, Int32ul, Int64ul, Padding, Struct

SECTOR = 512
"""Bytes of a sector, the unit of both tables."""

_SIGNATURE = b"\x55\xaa"
_PROTECTIVE = 0xEE
"""The kind of the entry of a protective MBR in front of a GPT (UEFI 2.10, 5.2.3)."""
_MBR = Struct(
    Padding(446),
    "entries"
    / Struct(Padding(4), "kind" / Int8ul, Padding(3), "first" / Int32ul, "count" / Int32ul)[4],
    "signature" / Bytes(2),
)
_GPT = Struct(
    "magic" / Bytes(8),
    Padding(64),
    "entries" / Int64ul,
    "count" / Int32ul,
    "entry_size" / Int32ul,
    Padding(4),
)
"""The header of a GPT (UEFI 2.10, 5.3.2)."""
_GPT_MAGIC = b"EFI PART"
_GPT_ENTRY = Struct("kind" / Bytes(16), Padding(16), "first" / Int64ul, "last" / Int64ul)
_UNUSED = bytes(16)
_ENTRY_MOST = 4096


def find(file: Path, number: int) -> tuple[int, int]:
    """First byte and size of a partition, counted from 1.

    ValueError has the reason why there is none.
    """
    with file.open("rb") as disk:
        sector = disk.read(SECTOR)
        if len(sector) < SECTOR or sector[-2:] != _SIGNATURE:
            raise ValueError("has no partition table")
        entries = _MBR.parse(sector).entries
        if any(entry.kind == _PROTECTIVE for entry in entries):
            return _gpt_entry(disk, file.stat().st_size, number)
    if number > len(entries):
        raise ValueError(f"has no partition {number}: an MBR has four")
    entry = entries[number - 1]
    if entry.kind == 0 or entry.count == 0:
        raise ValueError(f"has no partition {number}")
    return entry.first * SECTOR, entry.count * SECTOR


def _gpt_entry(disk: BinaryIO, size: int, number: int) -> tuple[int, int]:
    """First byte and size of a partition of a GPT on a disk of that size."""
    broken = ValueError("has a broken GPT")
    disk.seek(SECTOR)
    header = disk.read(_GPT.sizeof())
    if len(header) < _GPT.sizeof() or not header.startswith(_GPT_MAGIC):
        raise broken
    table = _GPT.parse(header)
    inside = (table.entries + 1) * SECTOR <= size
    if not inside or not _GPT_ENTRY.sizeof() <= table.entry_size <= _ENTRY_MOST:
        raise broken
    if number > table.count:
        raise ValueError(f"has no partition {number}")
    disk.seek(table.entries * SECTOR + (number - 1) * table.entry_size)
    content = disk.read(_GPT_ENTRY.sizeof())
    if len(content) < _GPT_ENTRY.sizeof():
        raise broken
    entry = _GPT_ENTRY.parse(content)
    if entry.kind == _UNUSED:
        raise ValueError(f"has no partition {number}")
    if entry.last < entry.first:
        raise broken
    return entry.first * SECTOR, (entry.last - entry.first + 1) * SECTOR
