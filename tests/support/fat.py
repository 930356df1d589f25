"""A FAT16 file system with a few files, for firmware that boots from a disk.

Microsoft FAT specification (FATGEN103). Names are short ones (8.3) in capital letters; the file
system fills the whole disk, without a partition table.
"""

import struct
from pathlib import PurePosixPath

SECTOR, CLUSTER = 512, 4096
_RESERVED, _FATS, _ROOT = 1, 1, 512
_END = 0xFFFF
_FOLDER, _FILE = 0x10, 0x20


def image(files):
    """The content of a disk with these files, by path."""
    needed = sum(len(content) // CLUSTER + 3 for content in files.values())
    clusters = max(8192, needed)
    assert clusters < 65_525, "too much for FAT16"
    table = [0xFFF8, _END]
    data = bytearray(clusters * CLUSTER)

    def store(content, size=None):
        """Put content into the next clusters; the first one's number."""
        number = max(1, -(-(size or len(content)) // CLUSTER))
        first = len(table)
        table.extend(range(first + 1, first + number))
        table.append(_END)
        data[(first - 2) * CLUSTER : (first - 2) * CLUSTER + len(content)] = content
        return first

    folders = {PurePosixPath("."): []}
    for name in files:
        for parent in reversed(PurePosixPath(name).parents):
            folders.setdefault(parent, [])
    for name, content in files.items():
        path = PurePosixPath(name)
        folders[path.parent].append(_entry(path.name, _FILE, store(content), len(content)))
    # A folder is known where it is stored: the deepest ones first.
    for path in sorted(folders, key=lambda path: -len(path.parts)):
        if path.parts:
            first = store(b"".join((_dots(len(table)), *folders[path])))
            folders[path.parent].append(_entry(path.name, _FOLDER, first, 0))
    fat = b"".join(struct.pack("<H", value) for value in table).ljust(2 * (clusters + 2), b"\0")
    sectors = -(-len(fat) // SECTOR)
    root = b"".join(folders[PurePosixPath(".")]).ljust(32 * _ROOT, b"\0")
    boot = _boot_sector(sectors, clusters)
    return boot + fat.ljust(sectors * SECTOR, b"\0") + root + bytes(data)


def _boot_sector(fat, clusters):
    total = _RESERVED + _FATS * fat + 32 * _ROOT // SECTOR + clusters * CLUSTER // SECTOR
    head = struct.pack(
        "<3s8sHBHBHHBHHHII",
        *(b"\xeb\x3c\x90", b"TENONOS ", SECTOR, CLUSTER // SECTOR, _RESERVED, _FATS, _ROOT),
        *(total if total < 0x10000 else 0, 0xF8, fat, 32, 2, 0, 0 if total < 0x10000 else total),
    )
    head += struct.pack("<BBBI11s8s", 0x80, 0, 0x29, 1, b"BOOT       ", b"FAT16   ")
    return head.ljust(510, b"\0") + b"\x55\xaa"


def _entry(name, attributes, first, size):
    stem, _, extension = name.upper().partition(".")
    assert len(stem) <= 8 and len(extension) <= 3, f"{name} is no short name"
    return _record(f"{stem:<8}{extension:<3}".encode(), attributes, first, size)


def _record(name, attributes, first, size):
    return struct.pack("<11sB14xHI", name, attributes, first, size)


def _dots(own):
    """The first entries of a folder; 0 stands for the root, which is enough for readers."""
    return _record(b".          ", _FOLDER, own, 0) + _record(b"..         ", _FOLDER, 0, 0)
