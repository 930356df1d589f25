"""Source locations of an address: the functions inlined there, each with its file and line.

Read from the debug information, which is large: a query of one address reads the functions of
one compilation unit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

from tenonos.paths import ROOT, shown

SCOPES = {
    "DW_TAG_compile_unit",
    "DW_TAG_namespace",
    "DW_TAG_structure_type",
    "DW_TAG_union_type",
    "DW_TAG_enumeration_type",
}
"""Tags of debug entries that contain functions."""

_INSIDE = re.compile(
    r"core::|tenon_(?:machine|timer|kernel|wait)::|tenon_time::(?!sleep::\w+(?:<|$))"
    r"|tenon_thread::(?!thread(?:::entry)?::\w+(?:<|$))"
)
"""Functions not to be shown: Rust's own and the kernel's inner ones."""

_LINKS = ("DW_AT_abstract_origin", "DW_AT_specification")


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A function and a line in it: the executed one, or the call of the next inner function."""

    function: str
    file: str
    line: int

    @property
    def name(self) -> str:
        """The function's name without generic parameters."""
        name, plain = self.function, None
        while name != plain:
            name, plain = re.sub(r"<[^<>]*>", "", name), name
        return name

    @property
    def where(self) -> str:
        """`file:line`, relative to the clone."""
        inside = ROOT / self.file
        return f"{shown(inside) if inside.exists() else self.file}:{self.line}"


def visible(locations: list[SourceLocation]) -> list[SourceLocation]:
    """The locations of interest to a reader: without the kernel's own calls, waits and spawns."""
    return [location for location in locations if not _INSIDE.match(location.function)]


class SourceLocations:
    """The source locations of an image."""

    def __init__(self, elf: ELFFile) -> None:
        self._dwarf: Any = elf.get_dwarf_info() if elf.has_dwarf_info() else None
        self._aranges = self._dwarf.get_aranges() if self._dwarf else None
        self._units: dict[int, list[tuple[int, int, Any]]] = {}
        self._names: dict[int, str] = {}
        self._lines: dict[int, list[tuple[int, int, int]]] = {}

    def at(self, address: int) -> list[SourceLocation]:
        """The functions that contain the instruction at `address`, from the one with code of its
        own to the most deeply inlined; empty if unknown."""
        containing = self._containing(address)
        if not containing:
            return []
        ((unit, die),) = containing
        names, calls = [self._name(die)], []
        while (inner := self._inlined(unit, die, address)) is not None:
            die = inner
            names.append(self._name(die))
            call = die.attributes
            calls.append((call["DW_AT_call_file"].value, call["DW_AT_call_line"].value))
        program = self._dwarf.line_program_for_CU(unit)
        calls.append(self._line(unit, program, address))
        directory = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
        folder = directory.value.decode() if directory else ""
        return [
            SourceLocation(name, file_of(folder, path(program, file)), line)
            for name, (file, line) in zip(names, calls, strict=True)
        ]

    def inside(self, address: int) -> set[str]:
        """The names of all functions that are inlined into the one at `address`."""
        found: set[str] = set()
        for _, die in self._containing(address):
            pending = list(_inlined_subroutines(die))
            while pending:
                inner = pending.pop()
                found.add(self._name(inner))
                pending.extend(_inlined_subroutines(inner))
        return found

    def spans(self, names: Collection[str]) -> dict[str, list[tuple[int, int]]]:
        """The code of all functions with these last names, wherever they are inlined. The first
        call reads the whole debug information."""
        found: dict[str, list[tuple[int, int]]] = {}
        for unit in self._dwarf.iter_CUs() if self._dwarf else ():
            for die in unit.iter_DIEs():
                if die.tag not in ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine"):
                    continue
                if spans := ranges(self._dwarf, unit, die):
                    name = self._name(die).rpartition("::")[2]
                    if name in names:
                        found.setdefault(name, []).extend(spans)
        return found

    def _containing(self, address: int) -> list[tuple[Any, Any]]:
        """The unit and the function an address is in, if they are known."""
        offset = self._aranges.cu_offset_at_addr(address) if self._aranges else None
        if offset is None:
            return []
        unit = self._dwarf.get_CU_at(offset)
        functions = self._functions(unit)
        return [(unit, die) for low, high, die in functions if low <= address < high][:1]

    def _functions(self, unit: Any) -> list[tuple[int, int, Any]]:
        """The functions of a unit that have code, with their addresses."""
        if unit.cu_offset not in self._units:
            found, pending = [], [unit.get_top_DIE()]
            while pending:
                die = pending.pop()
                if die.tag == "DW_TAG_subprogram":
                    found += [(low, high, die) for low, high in ranges(self._dwarf, unit, die)]
                if die.has_children and die.tag in SCOPES:
                    pending.extend(die.iter_children())
            self._units[unit.cu_offset] = found
        return self._units[unit.cu_offset]

    def _inlined(self, unit: Any, die: Any, address: int) -> Any:
        """The function inlined directly into `die` at `address`, if any."""
        for child in _inlined_subroutines(die):
            if any(low <= address < high for low, high in ranges(self._dwarf, unit, child)):
                return child
        return None

    def _line(self, unit: Any, program: Any, address: int) -> tuple[int, int]:
        """File number and line of an address."""
        if unit.cu_offset not in self._lines:
            states = [entry.state for entry in program.get_entries() if entry.state is not None]
            rows = sorted(
                (state.address, 0 if state.end_sequence else state.line, state.file)
                for state in states
            )
            self._lines[unit.cu_offset] = rows
        rows = self._lines[unit.cu_offset]
        index = bisect_right(rows, address, key=lambda row: row[0]) - 1
        return (rows[index][2], rows[index][1]) if index >= 0 else (0, 0)

    def _name(self, die: Any) -> str:
        """A function's name with its modules: `motor::main::{closure#0}`."""
        while "DW_AT_name" not in die.attributes:
            link = next((name for name in _LINKS if name in die.attributes), None)
            if link is None:
                return "?"
            die = die.get_DIE_from_attribute(link)
        if die.offset not in self._names:
            specification = die.attributes.get("DW_AT_specification")
            parent = die.get_DIE_from_attribute("DW_AT_specification") if specification else die
            parts = []
            while parent.tag != "DW_TAG_compile_unit":
                if "DW_AT_name" in parent.attributes:
                    parts.append(parent.attributes["DW_AT_name"].value.decode())
                parent = parent.get_parent()
            self._names[die.offset] = "::".join(part for part in reversed(parts) if part)
        return self._names[die.offset]


def _inlined_subroutines(die: Any) -> Iterator[Any]:
    """The functions inlined into a function, through nested blocks."""
    for child in die.iter_children():
        if child.tag == "DW_TAG_inlined_subroutine":
            yield child
        elif child.tag == "DW_TAG_lexical_block":
            yield from _inlined_subroutines(child)


def ranges(dwarf: Any, unit: Any, die: Any) -> list[tuple[int, int]]:
    """The address ranges of a function; empty for one without code of its own."""
    attributes = die.attributes
    if "DW_AT_ranges" in attributes:
        base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        offset = base.value if base else 0
        spans = []
        for entry in dwarf.range_lists().get_range_list_at_offset(
            attributes["DW_AT_ranges"].value, unit
        ):
            if isinstance(entry, BaseAddressEntry):
                offset = entry.base_address
                continue
            shift = 0 if entry.is_absolute else offset
            spans.append((shift + entry.begin_offset, shift + entry.end_offset))
        return [span for span in spans if span[0]]
    if "DW_AT_low_pc" not in attributes or "DW_AT_high_pc" not in attributes:
        return []
    low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
    end = high.value if high.form == "DW_FORM_addr" else low + high.value
    return [(low, end)] if low else []


def path(program: Any, number: int) -> str:
    """The path of a file of a line table; DWARF 5 counts from 0, DWARF 4 from 1."""
    header = program.header
    shift = 0 if header["version"] >= 5 else 1
    if not 0 <= number - shift < len(header["file_entry"]):
        return ""
    entry = header["file_entry"][number - shift]
    directory = entry["dir_index"] - shift
    folder = header["include_directory"][directory] if directory >= 0 else b""
    return f"{folder.decode()}/{entry.name.decode()}"


def file_of(folder: str, file: str) -> str:
    """A file by the folder its unit was compiled in, unless it has a prefix of its own: the
    clone's is written as a dot (`build.cargo`)."""
    return str(PurePosixPath(file) if file.startswith(("./", "/")) else PurePosixPath(folder, file))
