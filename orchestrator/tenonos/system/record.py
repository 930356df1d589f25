"""Records of fixed fields, little endian, as a kernel uses them where they lie.

A field is a format of `struct` for one value, a record within the record, or a list. What pads is
said (`_` and a format without a value), so that the text shows each offset.
"""

from __future__ import annotations

import struct
from typing import Any, TypeAlias

Field: TypeAlias = "str | Record | List | Choice"


class Record:
    """Fields one behind the other."""

    def __init__(self, **fields: Field) -> None:
        self.fields = fields
        self.size = sum(_size(field) for field in fields.values())

    def pack(self, **values: Any) -> bytes:
        """Its bytes; each field has a value, but those that pad."""
        parts = []
        for name, field in self.fields.items():
            pads = name.startswith("_")
            parts.append(struct.pack(f"<{field}") if pads else _pack(field, values.pop(name)))
        assert not values, f"no such fields: {', '.join(values)}"
        return b"".join(parts)

    def unpack(self, content: bytes) -> dict[str, Any]:
        """Its values."""
        values, at = {}, 0
        for name, field in self.fields.items():
            part, at = content[at : at + _size(field)], at + _size(field)
            if not name.startswith("_"):
                values[name] = _unpack(field, part)
        return values

    def offset(self, name: str) -> int:
        """Bytes in front of a field."""
        names = list(self.fields)
        return sum(_size(self.fields[each]) for each in names[: names.index(name)])


class List:
    """Up to so many items, and how many there are; a name is one of letters."""

    def __init__(self, item: Field, most: int, *, pad: int = 0) -> None:
        self.item, self.most, self.pad = item, most, pad
        self.size = _size(item) * most + 4 + pad

    def pack(self, values: Any) -> bytes:
        """Its bytes."""
        items = b"".join(_pack(self.item, value) for value in values)
        room = _size(self.item) * self.most
        assert len(items) <= room, f"{len(items)} bytes, there is room for {room}"
        return items.ljust(room, b"\0") + struct.pack(f"<I{self.pad}x", len(values))

    def unpack(self, content: bytes) -> list[Any]:
        """Its items."""
        (count,) = struct.unpack_from("<I", content, _size(self.item) * self.most)
        size = _size(self.item)
        return [_unpack(self.item, content[n * size : (n + 1) * size]) for n in range(count)]


class Choice:
    """One of several words, as its place among them."""

    def __init__(self, *words: str, size: str = "B") -> None:
        self.words, self.size = words, size


def _size(field: Field) -> int:
    if isinstance(field, Choice):
        return struct.calcsize(f"<{field.size}")
    return struct.calcsize(f"<{field}") if isinstance(field, str) else field.size


def _pack(field: Field, value: Any) -> bytes:
    if isinstance(field, Choice):
        return struct.pack(f"<{field.size}", field.words.index(value))
    if isinstance(field, str):
        return struct.pack(f"<{field}", value)
    return field.pack(**value) if isinstance(field, Record) else field.pack(value)


def _unpack(field: Field, content: bytes) -> Any:
    if isinstance(field, Choice):
        return field.words[struct.unpack(f"<{field.size}", content)[0]]
    if isinstance(field, str):
        return struct.unpack(f"<{field}", content)[0]
    return field.unpack(content)
