"""Text of commands: arguments that are read, tables that are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CONDITION = re.compile(r"(?:^|\s)if(?=[\s(])")
_PLACED = re.compile(r"^-?\d[\d.]*\s.*?(0x[0-9a-f]{8,16})\b", re.MULTILINE)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows)]  # noqa: B905
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()  # noqa: B905
        for row in rows
    )


def cores(numbers: Sequence[int]) -> str:
    """Core numbers with ranges: `0, 2-3`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][-1] + 1 == number:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts) or "-"


def split_condition(text: str) -> tuple[str, str]:
    """Location and condition of `LOCATION [if CONDITION]`."""
    found = _CONDITION.search(text)
    if found is None:
        return text.strip(), ""
    return text[: found.start()].strip(), text[found.end() :].strip()


def is_function(place: str, name: str | None) -> bool:
    """Whether a location is the name of a function, without its path or with it."""
    return name is not None and (name == place or name.endswith(f"::{place}"))


def placed(listed: str) -> list[int]:
    """The addresses of breakpoints in what `info breakpoints` prints."""
    return list(dict.fromkeys(int(number, 16) for number in _PLACED.findall(listed)))


_NO_SYMBOLS = (
    'No symbol table is loaded. Use the "file" command.',
    "the selected VM has no symbols; tenon-vm NAME FILE loads those of an ELF file, as of vmlinux",
)


def line(error: BaseException) -> str:
    """An error in one line, with the commands of this module in place of gdb's own."""
    said = " ".join(str(error).split()) or type(error).__name__
    return said.replace(*_NO_SYMBOLS)


def quoted(path: str) -> str:
    """A path as gdb reads it in a command."""
    return f'"{path}"' if " " in path else path
