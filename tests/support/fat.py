"""A FAT16 file system with a few files, for firmware that boots from a disk, and a checker of one.

Microsoft FAT specification (FATGEN103). Names that are written are short ones (8.3) in capital
letters; the file system fills the whole disk, without a partition table.
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
    head += struct.pack("<BBBI11s8s", 0x80, 0, 0x29, 1, b"NO NAME    ", b"FAT16   ")
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


_LONG, _LABEL, _FREE = 0x0F, 0x08, 0xE5


def files(disk, cut=False):
    """The content of all files of a FAT16 disk, by path; None for a folder. Asserts that each
    cluster is free or has one place in one file, and that all tables are equal. After a power cut
    clusters may be of no file, or behind the content of one, and the tables may differ."""
    cluster, reserved, tables, root, size = struct.unpack_from("<BHBH3xH", disk, 13)
    cluster *= SECTOR
    table = struct.unpack_from(f"<{size * SECTOR // 2}H", disk, reserved * SECTOR)
    all_tables = disk[reserved * SECTOR : (reserved + tables * size) * SECTOR]
    assert cut or all_tables == all_tables[: size * SECTOR] * tables, "the tables differ"
    entries = (reserved + tables * size) * SECTOR
    data, used, found = entries + 32 * root, set(), {}

    def chain(first):
        while first < 0xFFF8:
            assert first >= 2 and first not in used, f"cluster {first} is used twice, or none"
            used.add(first)
            at = data + (first - 2) * cluster
            yield disk[at : at + cluster]
            first = table[first]

    def read(folder, content):
        name = b""
        for at in range(0, len(content), 32):
            record = content[at : at + 32]
            if record[0] == 0:
                return
            if record[0] == _FREE or (record[11] & 0x3F != _LONG and record[11] & _LABEL):
                name = b""
            elif record[11] & 0x3F == _LONG:
                name = record[1:11] + record[14:26] + record[28:32] + name
            elif record[0] != ord("."):
                stem, tail = record[:8].decode().rstrip(), record[8:11].decode().rstrip()
                short = f"{stem}.{tail}" if tail else stem
                path = folder / (name.decode("utf-16-le").partition("\0")[0] or short)
                first, length = struct.unpack_from("<HI", record, 26)
                inside = b"".join(chain(first)) if first else b""
                if record[11] & _FOLDER:
                    found[str(path)] = None
                    read(path, inside)
                else:
                    room = -(-length // cluster) * cluster
                    assert room == len(inside) or (cut and room < len(inside)), f"{path}: {length}"
                    found[str(path)] = inside[:length]
                name = b""

    read(PurePosixPath("/"), disk[entries:data])
    allocated = {number for number, next_one in enumerate(table) if number > 1 and next_one}
    assert cut or allocated == used, f"clusters of no file: {sorted(allocated - used)[:8]}"
    return found
