"""Linux program that sets a mark for the counting plugin: `mark begin`, `mark end`.

Ten instructions in an ELF file, so that no compiler for Linux is needed. The marks are hint
instructions, which are NOPs for the core (`pool/hw/pmu`).
"""

from __future__ import annotations

import struct

CODE = (
    0xF940_0BE1,  # ldr x1, [sp, #16]: the first argument
    0x3940_0022,  # ldrb w2, [x1]
    0x7101_885F,  # cmp w2, #'b'
    0x5400_0061,  # b.ne end
    0xD503_2FDF,  # hint #126: a path begins
    0x1400_0002,  # b exit
    0xD503_2FFF,  # end: hint #127: a path ends
    0xD280_0000,  # exit: mov x0, #0
    0xD280_0BA8,  # mov x8, #93: exit
    0xD400_0001,  # svc #0
)

_FILE = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_AT = 0x40_0000
_EXECUTABLE, _AARCH64, _LOAD, _READ_EXECUTE = 2, 183, 1, 5


def program() -> bytes:
    """The program as a static ELF file of one segment."""
    code = struct.pack(f"<{len(CODE)}I", *CODE)
    start = _FILE.size + _SEGMENT.size
    size = start + len(code)
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head = _FILE.pack(
        *(identity, _EXECUTABLE, _AARCH64, 1, _AT + start, _FILE.size, 0, 0),
        *(_FILE.size, _SEGMENT.size, 1, 0, 0, 0),
    )
    segment = _SEGMENT.pack(_LOAD, _READ_EXECUTE, 0, _AT, _AT, size, size, 0x1000)
    return head + segment + code
