"""Small images, assembled by hand."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

BASE = 0x4008_0000

RET, NOP, BRK = 0xD65F03C0, 0xD503201F, 0xD4200020
BLR, BR = 0xD63F0100, 0xD61F0100  # by x8


def down(size):
    """`sub sp, sp, #size`."""
    return 0xD10003FF | size << 10


def up(size):
    """`add sp, sp, #size`."""
    return 0x910003FF | size << 10


def push(size):
    """`stp x29, x30, [sp, #-size]!`."""
    return 0xA9807BFD | (-size // 8 & 0x7F) << 15


@dataclass
class Program:
    """Functions of words, one after the other; ("bl", name) and ("b", name) name another one,
    ("loop", n) goes back n instructions, ("b.eq", n) on by n."""

    functions: dict[str, list] = field(default_factory=dict)
    sections: dict[str, list[tuple]] = field(default_factory=dict)

    def address(self, name, index=0):
        before = 0
        for other, words in self.functions.items():
            if other == name:
                return BASE + 4 * (before + index)
            before += len(words)
        raise KeyError(name)

    def elf(self):
        """The image as an ELF file."""
        text = b"".join(
            struct.pack("<I", self._word(word, self.address(name, index)))
            for name, words in self.functions.items()
            for index, word in enumerate(words)
        )
        names, symbols = b"\0", bytes(24)
        for name, words in self.functions.items():
            symbols += struct.pack(
                "<IBBHQQ", len(names), 2, 0, 1, self.address(name), 4 * len(words)
            )
            names += name.encode() + b"\0"
        noted = {
            name: b"".join(struct.pack(f"<{len(r)}Q", *map(self._value, r)) for r in records)
            for name, records in self.sections.items()
        }
        parts = [("", 0, 0, 0, b""), (".text", 1, 6, BASE, text), (".symtab", 2, 0, 0, symbols)]
        parts += [(".strtab", 3, 0, 0, names)]
        parts += [(name, 1, 0, 0, data) for name, data in noted.items()]
        return _file(parts)

    def _value(self, value):
        return self.address(*value) if isinstance(value, tuple) else value

    def _word(self, word, at):
        if isinstance(word, int):
            return word
        kind, to = word
        if kind in ("loop", "b.eq"):
            distance = -to if kind == "loop" else to
            return 0x54000000 | (distance & 0x7FFFF) << 5
        distance = (self.address(to) - at) // 4 & 0x3FFFFFF
        return (0x94000000 if kind == "bl" else 0x14000000) | distance


def _file(parts):
    """An ELF file of sections, the last of which names them all."""
    labels = b""
    places = []
    for name, *_ in [*parts, (".shstrtab",)]:
        places.append(len(labels))
        labels += name.encode() + b"\0"
    parts = [*parts, (".shstrtab", 3, 0, 0, labels)]
    body, headers, at = b"", b"", 64
    for (name, kind, flags, address, data), label in zip(parts, places, strict=True):
        link, entry = (3, 24) if name == ".symtab" else (0, 0)
        headers += struct.pack(
            "<IIQQQQIIQQ", label, kind, flags, address, at, len(data), link, 0, 1, entry
        )
        body += data
        at += len(data)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    count = len(parts)
    return (
        ident
        + struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, BASE, 0, at, 0, 64, 56, 0, 64, count, count - 1)
        + body
        + headers
    )
