"""Sizes, addresses and durations as people write them: `"16M"`, `"0x58000000"`, `"1ms"`."""

import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LONGEST = (1 << 63) - 1
"""The longest duration in nanoseconds: the kernels add them in 64 bits."""
_LARGEST = 1 << 63
"""The end of sizes and addresses: no board has more, and records have 64 bits."""
_SHOWN = 40
"""The most characters of a value in a message."""
_ADDRESS = r"0x_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0|[1-9]\d*(?:_\d+)*"
_TIMES = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def size(value: object) -> int:
    """Bytes from `"16M"` (K, M, G are powers of 1024) or a number of bytes."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return _bounded(value, value)
    match = (
        re.fullmatch(r"\s*(\d{1,20})\s*([KMG]?)i?B?\s*", value) if isinstance(value, str) else None
    )
    if not match or not int(match[1]):
        raise ValueError(f'{_shown(value)} is not a size; write "64K", "16M" or "1G"')
    return _bounded(int(match[1]) * _SIZES[match[2]], value)


def offset(value: object) -> int:
    """An offset in bytes: a size, or zero."""
    return 0 if value in (0, "0") and not isinstance(value, bool) else size(value)


def address(value: object) -> int:
    """An address from `"0x5800_0000"` or a number."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return _bounded(value, value)
    if isinstance(value, str) and re.fullmatch(_ADDRESS, value):
        return _bounded(int(value, 0), value)
    raise ValueError(f'{_shown(value)} is not an address; write "0x58000000"')


def duration(value: object) -> int:
    """Nanoseconds from `"1ms"`, `"250us"`, `"1.5s"` or `"800ns"`."""
    match = (
        re.fullmatch(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*(ns|us|µs|ms|s)\s*", value)
        if isinstance(value, str)
        else None
    )
    if not match:
        raise ValueError(f'{_shown(value)} is not a duration; write "1ms", "250us" or "2s"')
    whole, _, fraction = match[1].partition(".")
    scale = _TIMES[match[2].replace("µ", "u")]
    scaled = int(whole + fraction) * scale
    if scaled == 0 or scaled % 10 ** len(fraction):
        raise ValueError(f"{_shown(value)} is not a whole, positive number of nanoseconds")
    if (found := scaled // 10 ** len(fraction)) > LONGEST:
        raise ValueError(f"{_shown(value)} is too long; at most {LONGEST}ns, which is 292 years")
    return found


def size_text(value: int) -> str:
    """A size as `size` reads it."""
    for unit in "GMK":
        if value % _SIZES[unit] == 0:
            return f"{value // _SIZES[unit]}{unit}"
    return str(value)


def offset_text(value: int) -> str:
    """An offset as `offset` reads it."""
    return size_text(value) if value else "0"


def duration_text(value: int) -> str:
    """A duration as `duration` reads it."""
    for unit in ("s", "ms", "us"):
        if value % _TIMES[unit] == 0:
            return f"{value // _TIMES[unit]}{unit}"
    return f"{value}ns"


def _bounded(value: int, written: object) -> int:
    """A value that fits the records of the kernels."""
    if value >= _LARGEST:
        raise ValueError(f"{_shown(written)} is too large; at most {_LARGEST - 1:#x}")
    return value


def _shown(value: object) -> str:
    """A value as written, shortened if it is long (Python prints no number of 4,300 digits)."""
    huge = isinstance(value, int) and value >= _LARGEST
    written = hex(value) if huge else str(value)
    written = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"
    return f'"{written}"' if isinstance(value, str) else written


Size = Annotated[int, BeforeValidator(size), PlainSerializer(size_text)]
Offset = Annotated[int, BeforeValidator(offset), PlainSerializer(offset_text)]
Address = Annotated[int, BeforeValidator(address), PlainSerializer(hex)]
Duration = Annotated[int, BeforeValidator(duration), PlainSerializer(duration_text)]
