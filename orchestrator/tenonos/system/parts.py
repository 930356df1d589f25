"""What the partition table of a disk says: an MBR's, or a GPT's."""

import struct
from pathlib import Path

SECTOR = 512
"""Bytes of a sector, by which both tables count."""

_MBR_ENTRIES, _MBR_ENTRY = 446, 16
_SIGNATURE = b"\x55\xaa"
_PROTECTIVE = 0xEE
"""The kind of the one entry of an MBR that stands before a GPT (UEFI 2.10, 5.2.3)."""
_GPT_HEADER = struct.Struct("<8sIIIIQQQQ16sQIII")
_GPT_MAGIC = b"EFI PART"
_GPT_ENTRY = struct.Struct("<16s16sQQ")
_NOBODYS = bytes(16)
_ENTRY_MOST = 4096


def find(file: Path, number: int) -> tuple[int, int]:
    """First byte and size of a partition, counted from 1.

    ValueError says in words why there is none.
    """
    with file.open("rb") as disk:
        mbr = disk.read(SECTOR)
        if len(mbr) < SECTOR or mbr[-2:] != _SIGNATURE:
            raise ValueError("has no partition table")
        entries = [_mbr_entry(mbr, each) for each in range(4)]
        if any(kind == _PROTECTIVE for kind, _, _ in entries):
            disk.seek(SECTOR)
            header = disk.read(_GPT_HEADER.size)
            if len(header) < _GPT_HEADER.size or not header.startswith(_GPT_MAGIC):
                raise ValueError("has a broken GPT")
            fields = _GPT_HEADER.unpack(header)
            place, count, size = fields[10:13]
            inside = (place + 1) * SECTOR <= file.stat().st_size
            if not inside or not _GPT_ENTRY.size <= size <= _ENTRY_MOST:
                raise ValueError("has a broken GPT")
            if number > count:
                raise ValueError(f"has no partition {number}")
            disk.seek(place * SECTOR + (number - 1) * size)
            entry = disk.read(_GPT_ENTRY.size)
            if len(entry) < _GPT_ENTRY.size:
                raise ValueError("has a broken GPT")
            kind, _, first, last = _GPT_ENTRY.unpack(entry)
            if kind == _NOBODYS:
                raise ValueError(f"has no partition {number}")
            if last < first:
                raise ValueError("has a broken GPT")
            return first * SECTOR, (last - first + 1) * SECTOR
    if number > len(entries):
        raise ValueError(f"has no partition {number}: an MBR has four")
    kind, first, count = entries[number - 1]
    if kind == 0 or count == 0:
        raise ValueError(f"has no partition {number}")
    return first * SECTOR, count * SECTOR


def _mbr_entry(mbr: bytes, number: int) -> tuple[int, int, int]:
    """Kind, first sector and how many, of an entry."""
    at = _MBR_ENTRIES + number * _MBR_ENTRY
    first, count = struct.unpack_from("<II", mbr, at + 8)
    return mbr[at + 4], first, count
