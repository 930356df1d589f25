"""What an address of an image stands for: the static it lies in, by its name in the source."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any

from tenonos.analysis.demangle import demangled

_LARGE = 1024
"""Of a static this large, an array that is, the place inside it is named too."""


class Statics:
    """The statics of an image, by address."""

    def __init__(self, elf: Path) -> None:
        from elftools.elf.elffile import ELFFile

        with elf.open("rb") as file:
            table: Any = ELFFile(file).get_section_by_name(".symtab")
            found = {
                symbol["st_value"]: (symbol["st_value"] + symbol["st_size"], symbol.name)
                for symbol in (table.iter_symbols() if table else ())
                if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"]
            }
        self._starts = sorted(found)
        self._found = found

    def size(self, name: str) -> int:
        """The bytes of a static, by its plain symbol; none if there is none."""
        return next((e - start for start, (e, s) in self._found.items() if s == name), 0)

    def name(self, address: int) -> str:
        """The name of the static at an address, or the address."""
        index = bisect_right(self._starts, address) - 1
        if index >= 0:
            start = self._starts[index]
            end, symbol = self._found[start]
            if address < end:
                inside = f"+{address - start:#x}" if end - start > _LARGE else ""
                return demangled(symbol) + inside
        return f"{address:#x}"
