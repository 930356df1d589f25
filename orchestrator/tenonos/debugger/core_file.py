"""ELF core files: registers of suspended threads and the memory that their stacks are in.

A second debugger reads one as if it were of a process, so that gdb itself unwinds the stacks of
threads that no core executes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

REGISTERS = 34
"""x0 to x30, SP, PC and PSTATE: `elf_gregset_t` of AArch64 Linux."""
_NT_PRSTATUS = 1
_PT_LOAD, _PT_NOTE = 1, 4
_READ = 4
_EM_AARCH64, _ET_CORE = 183, 4
_HEADER, _PROGRAM_HEADER = 64, 56

PAGE = 4096


def whole_pages(ranges: Iterable[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """The pages of ranges of addresses, joined and without overlaps; at most `limit` bytes."""
    pages = sorted(
        {
            page
            for start, size in ranges
            for page in range(start // PAGE, -(-(start + size) // PAGE))
        }
    )
    joined: list[tuple[int, int]] = []
    for page in pages[: limit // PAGE]:
        start = page * PAGE
        if joined and sum(joined[-1]) == start:
            joined[-1] = (joined[-1][0], joined[-1][1] + PAGE)
        else:
            joined.append((start, PAGE))
    return joined


def core_file(threads: Sequence[Sequence[int]], memory: Sequence[tuple[int, bytes]]) -> bytes:
    """A core file; its threads are numbered from 1."""
    notes = b"".join(_note(number, values) for number, values in enumerate(threads, 1))
    count = 1 + len(memory)
    at = _HEADER + count * _PROGRAM_HEADER
    headers = [_program_header(_PT_NOTE, at, 0, len(notes))]
    at += len(notes)
    for address, data in memory:
        headers.append(_program_header(_PT_LOAD, at, address, len(data)))
        at += len(data)
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    sizes = (_HEADER, _PROGRAM_HEADER, count, 0, 0, 0)
    head = ident + struct.pack("<HHIQQQIHHHHHH", _ET_CORE, _EM_AARCH64, 1, 0, _HEADER, 0, 0, *sizes)
    return b"".join([head, *headers, notes, *(data for _, data in memory)])


def _program_header(kind: int, offset: int, address: int, size: int) -> bytes:
    return struct.pack("<IIQQQQQQ", kind, _READ, offset, address, 0, size, size, 1)


def _note(number: int, values: Sequence[int]) -> bytes:
    """NT_PRSTATUS: `struct elf_prstatus`, of which gdb reads the thread's number and registers."""
    status = struct.pack("<32xi76x34qi4x", number, *map(_signed, values), 0)
    return struct.pack("<III8s", 5, len(status), _NT_PRSTATUS, b"CORE") + status


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
