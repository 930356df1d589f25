"""Program headers of an ELF: what is loaded where (System V ABI, chapter 5).

Only the file header and the PT_LOAD entries are read, as a loader does: whatever else an image
has, sections, dynamic tables, notes, may be empty or wrong.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_FILE = struct.Struct("<4sBBB9xHHIQQQIHHHHHH")
_PROGRAM = struct.Struct("<IIQQQQQQ")
_CLASS_64, _LITTLE, _AARCH64 = 2, 1, 183
_LOADABLE = (2, 3)
"""ET_EXEC and ET_DYN: linked, at a fixed address or at any."""
_LOAD = 1
_MANY = 0xFFFF
"""PN_XNUM: the count stands in a section header."""


@dataclass(frozen=True)
class Header:
    """The parts of the file header that a loader needs."""

    entry: int
    table: int
    count: int
    entry_size: int


@dataclass(frozen=True)
class Segment:
    """A PT_LOAD entry."""

    offset: int
    virtual: int
    physical: int
    stored: int
    """Bytes in the file."""
    size: int
    """Bytes in memory."""

    def content(self, image: bytes) -> bytes:
        """Its bytes in the file."""
        return image[self.offset : self.offset + self.stored]


def header(image: bytes) -> Header:
    """The file header; ValueError says what keeps it from running on a 64-bit Arm."""
    if len(image) < _FILE.size:
        raise ValueError("it ends within its header")
    _, bits, order, _, kind, machine, _, entry, table, _, _, _, size, count, _, _, _ = (
        _FILE.unpack_from(image)
    )
    if bits != _CLASS_64 or order != _LITTLE:
        raise ValueError("it is not 64-bit, little endian")
    if machine != _AARCH64:
        raise ValueError(f"it is for machine {machine}, and AArch64 is {_AARCH64}")
    if kind not in _LOADABLE:
        raise ValueError("it is an object, not linked")
    return Header(entry, table, count, size)


def loads(image: bytes, header: Header) -> list[Segment]:
    """The segments to load, not empty; ValueError if the table or one of them is impossible."""
    found = [segment for segment in _loads(image, header) if segment.size]
    if not found:
        raise ValueError("it has nothing to load")
    return found


def _loads(image: bytes, header: Header) -> Iterator[Segment]:
    end = header.table + header.count * header.entry_size
    if header.count and (header.entry_size < _PROGRAM.size or header.count == _MANY):
        raise ValueError("its program headers have another format")
    if end > len(image):
        raise ValueError("its program headers are beyond the end of the file")
    for number in range(header.count):
        kind, _, offset, virtual, physical, stored, size, _ = _PROGRAM.unpack_from(
            image, header.table + number * header.entry_size
        )
        if kind != _LOAD:
            continue
        if stored > size:
            raise ValueError(f"program header {number} has more in the file than in memory")
        if offset + stored > len(image):
            raise ValueError(f"program header {number} is beyond the end of the file")
        yield Segment(offset, virtual, physical, stored, size)
