"""Instruction sequences of a linked image that errata of a CPU concern.

The image is read word by word, as the sequences are defined by encodings: the classes of A64 (Arm
ARM, C4.1), not mnemonics. Ranges that the assembler marks as data (`$d`, AAELF64, 5.6) are left
out, except where speculation could fetch them.

- 835769 (Cortex-A53): a load, a store or a prefetch, and behind it a 64-bit multiply-accumulate.
- 843419 (Cortex-A53): ADRP in one of the last two words of a page, a load or a store, at most one
  other instruction, and a load or a store whose base is the register that ADRP wrote.
- Speculative AT (Cortex-A53, A55, A57, A72 and A76, each with a number of its own): an address
  translation instruction of stage 1. An image without one at EL2 has nothing to speculate.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO

from elftools.elf.elffile import ELFFile

from tenonos.analysis.demangle import demangled

_EXECUTABLE = 4  # SHF_EXECINSTR
_PAGE = 4096
_ZERO = 31
"""The number of XZR, and of SP as a base."""


@dataclass(frozen=True)
class Code:
    """Consecutive words of code."""

    address: int
    words: Sequence[int]


@dataclass(frozen=True)
class Place:
    """A place in an image: the address of the first instruction, and its function."""

    address: int
    function: str

    def __str__(self) -> str:
        return f"{self.function} at {self.address:#x}"


Scan = Callable[[Code], Iterator[int]]
"""The addresses at which a sequence starts."""


def _is_memory(word: int) -> bool:
    """Whether it is of the class of loads and stores, prefetches included (C4.1.94)."""
    return word & 0x0A00_0000 == 0x0800_0000


def _is_accumulate(word: int) -> bool:
    """Whether it is MADD, MSUB, SMADDL, SMSUBL, UMADDL or UMSUBL with 64-bit result (C4.1.95), and
    not a multiplication, which accumulates to XZR."""
    return word & 0xFF00_0000 == 0x9B00_0000 and word >> 21 & 7 in (0, 1, 5) and _ra(word) != _ZERO


def _rt(word: int) -> int:
    return word & 31


def _rn(word: int) -> int:
    return word >> 5 & 31


def _ra(word: int) -> int:
    return word >> 10 & 31


def _rm(word: int) -> int:
    return word >> 16 & 31


def _is_vector(word: int) -> bool:
    return bool(word >> 26 & 1)


def _is_pair(word: int) -> bool:
    """Whether it is a load or store of a pair of registers, with or without a hint."""
    return word & 0x3800_0000 == 0x2800_0000


def _is_exclusive(word: int) -> bool:
    """Whether it is a load or store that is exclusive or ordered."""
    return word & 0x3F00_0000 == 0x0800_0000


def _is_literal(word: int) -> bool:
    return word & 0x3B00_0000 == 0x1800_0000


def _is_one_register(word: int) -> bool:
    """Whether it is a load or store of one register: unscaled, indexed, unprivileged, by register,
    by an unsigned immediate, or an atomic operation."""
    return word & 0x3A00_0000 == 0x3800_0000


def _has_unsigned_offset(word: int) -> bool:
    """Whether it is a load or store of one register by an unsigned immediate."""
    return word & 0x3B00_0000 == 0x3900_0000


def _loaded(word: int) -> frozenset[int]:
    """The general-purpose registers that a load writes; those of a writeback are not counted."""
    if _is_vector(word):
        return frozenset()
    if _is_pair(word) or _is_exclusive(word):
        two = _is_pair(word) or word >> 21 & 1
        both = {_rt(word), _ra(word)} if two else {_rt(word)}
        return frozenset(both) if word >> 22 & 1 else frozenset()
    if _is_literal(word):
        return frozenset() if word >> 30 == 3 else frozenset({_rt(word)})
    size, opc = word >> 30, word >> 22 & 3
    prefetch = size == 3 and opc == 2
    return (
        frozenset({_rt(word)}) if _is_one_register(word) and opc and not prefetch else frozenset()
    )


def _writes(word: int, register: int) -> bool:
    """Whether a load or store writes a general-purpose register, by a load, a writeback or the
    status of an exclusive store."""
    if register in _loaded(word):
        return True
    indexed = _is_pair(word) and word >> 23 & 1
    if _is_one_register(word) and not _has_unsigned_offset(word):
        indexed = not word >> 21 & 1 and word >> 10 & 1
        if word >> 21 & 1 and word >> 10 & 3 == 0:  # an atomic operation
            return register == _rt(word)
    if word & 0xBE80_0000 == 0x0C80_0000:  # structures of vectors, post-indexed
        indexed = True
    if _is_exclusive(word) and not word >> 23 & 1 and not word >> 22 & 1:
        return register == _rm(word)
    return bool(indexed) and register == _rn(word)


def multiply_accumulate(code: Code) -> Iterator[int]:
    """Sequences of 835769. A load of a register that the second instruction reads holds that one up
    and is none."""
    for index in range(len(code.words) - 1):
        second = code.words[index + 1]
        if not _is_accumulate(second):
            continue
        first = code.words[index]
        if _is_memory(first) and not _loaded(first) & {_rn(second), _rm(second), _ra(second)}:
            yield code.address + 4 * index


def _is_page_address(word: int) -> bool:
    return word & 0x9F00_0000 == 0x9000_0000  # ADRP


def _is_branch(word: int) -> bool:
    """Whether it is of the class of branches, exceptions and system instructions that branch."""
    kind = word & 0x7C00_0000
    return (
        kind == 0x1400_0000
        or word & 0x7E00_0000 in (0x3400_0000, 0x3600_0000)
        or (word & 0xFE00_0000 in (0x5400_0000, 0xD600_0000))
    )


def _is_second(word: int) -> bool:
    """Whether it may be the second instruction of 843419: a load or store of one register, a store
    of a pair, a store of vectors by ST1."""
    if _is_pair(word):
        return not word >> 22 & 1
    if word & 0xBF00_0000 in (0x0C00_0000, 0x0D00_0000):
        return not word >> 22 & 1
    return _is_one_register(word) or _is_literal(word) or _is_exclusive(word)


def page_address(code: Code) -> Iterator[int]:
    """Sequences of 843419, the first of the two in Arm's notice, as linkers look for it too."""
    words = code.words
    first = (_PAGE - 8 - code.address) % _PAGE // 4
    starts = (
        start + more
        for start in range(first - _PAGE // 4, len(words), _PAGE // 4)
        for more in (0, 1)
    )
    for index in starts:
        if index < 0 or index + 2 >= len(words) or not _is_page_address(words[index]):
            continue
        register, second = _rt(words[index]), words[index + 1]
        if not (_is_memory(second) and _is_second(second)) or _writes(second, register):
            continue
        between = words[index + 2]
        lasts = (between,) if _is_branch(between) else (between, *words[index + 3 : index + 4])
        if any(_has_unsigned_offset(last) and _rn(last) == register for last in lasts):
            yield code.address + 4 * index


def translations(code: Code) -> Iterator[int]:
    """Instructions AT of stage 1 of EL1 and EL0, alone or with stage 2: S1E1R to S12E0W and S1E1RP,
    S1E1WP (C5.3): op1 0 or 4, CRn 7, CRm 8 or 9."""
    for index, word in enumerate(code.words):
        if word & 0xFFFF_F000 in (0xD508_7000, 0xD50C_7000):
            crm, op2 = word >> 8 & 15, word >> 5 & 7
            stage_1_of_el1 = word >> 16 & 7 == 0 or op2 >= 4
            if crm in (8, 9) and stage_1_of_el1:
                yield code.address + 4 * index


def code_of(elf: ELFFile, *, data: bool = False) -> Iterator[Code]:
    """The code of an image by ranges; with `data`, all that is executable."""
    marks = sorted(_marks(elf))
    for section in elf.iter_sections():
        if not section["sh_flags"] & _EXECUTABLE or section["sh_type"] == "SHT_NOBITS":
            continue
        start, content = section["sh_addr"], section.data()
        ranges = [(start, start + len(content) // 4 * 4)]
        if not data:
            ranges = list(_without_data(marks, *ranges[0]))
        for low, high in ranges:
            words = struct.unpack_from(f"<{(high - low) // 4}I", content, low - start)
            yield Code(low, words)


def _marks(elf: ELFFile) -> Iterator[tuple[int, bool]]:
    """The mapping symbols: the address, and whether code starts there."""
    table = elf.get_section_by_name(".symtab")
    for symbol in table.iter_symbols() if table else ():
        if symbol.name[:2] in ("$x", "$d") and symbol.name[2:3] in ("", "."):
            yield symbol["st_value"], symbol.name[1] == "x"


def _without_data(marks: list[tuple[int, bool]], low: int, high: int) -> Iterator[tuple[int, int]]:
    position, is_code = low, True
    for address, code in marks:
        if low <= address < high and code != is_code:
            if is_code and position < address:
                yield position, address & ~3
            position, is_code = address + 3 & ~3, code
    if is_code and position < high:
        yield position, high


def places(content: bytes, scan: Scan, *, data: bool = False) -> list[Place]:
    """The places of a sequence in an image."""
    elf = ELFFile(BytesIO(content))
    found = [address for code in code_of(elf, data=data) for address in scan(code)]
    if not found:
        return []
    functions = sorted(_functions(elf))
    return [Place(address, _name(functions, address)) for address in found]


def _functions(elf: ELFFile) -> Iterator[tuple[int, str]]:
    table = elf.get_section_by_name(".symtab")
    for symbol in table.iter_symbols() if table else ():
        if symbol.name and symbol.name[0] not in "$." and symbol["st_shndx"] != "SHN_ABS":
            yield symbol["st_value"], symbol.name


def _name(functions: list[tuple[int, str]], address: int) -> str:
    index = bisect_right(functions, address, key=lambda item: item[0]) - 1
    return demangled(functions[index][1]) if index >= 0 else "code"
