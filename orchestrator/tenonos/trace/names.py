"""Names of addresses in an image by its source: the statics that contain them, and functions."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any

from tenonos.analysis.demangle import demangled

_LARGE = 1024
"""Size from which a static counts as an array, with the offset in its name."""


class Statics:
    """The statics and the functions of an image, by address."""

    def __init__(self, elf: Path) -> None:
        from elftools.elf.elffile import ELFFile

        with elf.open("rb") as file:
            table: Any = ELFFile(file).get_section_by_name(".symtab")
            symbols = list(table.iter_symbols()) if table else []
            found = {
                symbol["st_value"]: (symbol["st_value"] + symbol["st_size"], symbol.name)
                for symbol in symbols
                if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"]
            }
            self._functions = {
                symbol["st_value"]: symbol.name
                for symbol in symbols
                if symbol["st_info"]["type"] == "STT_FUNC"
            }
        self._starts = sorted(found)
        self._found = found

    def size(self, name: str) -> int:
        """The size of a static by its plain symbol; none if it is absent."""
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

    def function(self, address: int) -> str:
        """The name of the function that begins at an address, or the address."""
        symbol = self._functions.get(address)
        return demangled(symbol) if symbol else f"{address:#x}"
