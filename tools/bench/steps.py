"""Instructions of a visit: their kinds and functions."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO

from elftools.elf.elffile import ELFFile

from tenonos.analysis.source_locations import SourceLocations
from tools.bench.row import Kinds

_BARRIERS = {0xD503_309F, 0xD503_30BF, 0xD503_30DF}
"""DSB, DMB and ISB, with any option."""

_CALL, _CALL_MASK = 0x9400_0000, 0xFC00_0000
"""`BL` (Arm ARM, C6.2)."""
_CALL_REGISTER, _CALL_REGISTER_MASK = 0xD63F_0000, 0xFFFF_FC1F
"""`BLR`."""


class Code:
    """Mortise's instructions, with the addresses of requested functions."""

    def __init__(self, elf: bytes, names: Collection[str] = ()) -> None:
        image = ELFFile(BytesIO(elf))
        self._sections = [
            (section["sh_addr"], section.data())
            for section in image.iter_sections("SHT_PROGBITS")
            if section["sh_flags"] & 4
        ]
        self._locations = SourceLocations(image)
        # All at once: a lookup of one instruction would read the debug information each time.
        self._spans = self._locations.spans(names) if names else {}
        self.word, self.functions = cache(self._word), cache(self._functions)
        self._chain = cache(self._chain_at)

    def _word(self, address: int) -> int:
        """The instruction at an address."""
        for start, data in self._sections:
            if 0 <= address - start < len(data):
                return struct.unpack_from("<I", data, address - start)[0]
        return 0

    def kinds(self, steps: Sequence[int]) -> Kinds:
        """The steps that cost more on hardware."""
        return kinds_of(map(self.word, steps))

    def of(self, steps: Sequence[int], names: set[str]) -> list[int]:
        """The steps within one of these functions, inlined code included."""
        return [index for index, step in enumerate(steps) if self.functions(step) & names]

    def callers(self, steps: Iterable[int]) -> Iterator[tuple[str, ...]]:
        """The call stack of each step, from the outermost function on, with functions inlined at
        its address."""
        called: list[tuple[int, tuple[str, ...]]] = []
        for step in steps:
            while called and called[-1][0] == step:
                called.pop()
            chain = (*(called[-1][1] if called else ()), *self._chain(step))
            yield chain
            word = self.word(step)
            if word & _CALL_MASK == _CALL or word & _CALL_REGISTER_MASK == _CALL_REGISTER:
                called.append((step + 4, chain))

    def _chain_at(self, address: int) -> tuple[str, ...]:
        return tuple(place.name for place in self._locations.at(address))

    def _functions(self, address: int) -> frozenset[str]:
        """The requested functions that contain the instruction at an address."""
        return frozenset(
            name
            for name, spans in self._spans.items()
            if any(low <= address < high for low, high in spans)
        )


def kinds_of(words: Iterable[int]) -> Kinds:
    """Instructions that cost more on hardware (Arm ARM, C4.1.66), without device accesses, which
    are not visible in instructions."""
    barriers = writes = 0
    for word in words:
        barriers += word & 0xFFFF_F0FF in _BARRIERS
        writes += word & 0xFFF0_0000 == 0xD510_0000 or word & 0xFFF8_F01F == 0xD500_401F
    return Kinds(barriers, writes)
