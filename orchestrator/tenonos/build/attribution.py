"""Attribution of the code of a linked image to the libraries it was written in.

Link-time optimisation moves and inlines code across crates, so neither symbols nor object files
identify its origin. Debug information does: every function, inlined ones too, names its source
file. Inlined generics of Rust's own library count for the function they are inlined into. Assembly,
which has no functions, is attributed by its lines or its labels.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tenonos.analysis.source_locations import SCOPES, file_of, path, ranges
from tenonos.build.sloc import sources

RUST, GENERATED = "rust", "generated"
APP = r"apps/\1"

_PATTERNS = (
    (re.compile(r"(?:^|/)pool/([^/]+/[^/]+)/"), None),
    (re.compile(r"(?:^|/)(apps/[^/]+)/"), None),
    (re.compile(r"(?:^|/)tests/guests/([^/]+)/"), APP),
    (re.compile(r"/registry/src/[^/]+/((?!compiler_builtins).+?)-\d[^/]*/"), None),
    (re.compile(r"(?:^|/)(?:rustc/[^/]+|library)/|/compiler_builtins-"), RUST),
)
_EXECUTABLE = 4  # SHF_EXECINSTR

Span = tuple[int, int, str]
"""An address range and its owner."""


def attribute(content: bytes, folders: dict[str, Path]) -> dict[str, int]:
    """Bytes of code by owner; `folders` maps ids of owners to their folders or files."""
    return Ownership(content, folders).bytes()


class Ownership:
    """Owners of the code of one ELF image."""

    def __init__(self, content: bytes, folders: dict[str, Path]) -> None:
        self.elf = ELFFile(BytesIO(content))
        self.dwarf = self.elf.get_dwarf_info()
        self.folders = folders
        self.found: Counter[str] = Counter()
        self.origins: set[tuple[str, int]] = set()
        """File and line of each function with code, inlined ones too, closures excepted."""
        self.labelled: dict[Path, set[str]] = {}
        """The files of assembly in the image, with their labels."""
        self._attribute()

    def bytes(self) -> dict[str, int]:
        """Bytes of code by owner."""
        return {owner: size for owner, size in self.found.items() if size}

    def of(self, address: int) -> str:
        """The owner of the outermost function at an address, whatever is inlined there."""
        for spans in (self.spans, self.fallback):
            position = bisect_right(spans, address, key=lambda span: span[0]) - 1
            if position >= 0 and address < spans[position][1]:
                return spans[position][2]
        return GENERATED

    def _attribute(self) -> None:
        """Count functions first, then the code between them."""
        functions: list[Span] = []
        lines: list[Span] = []
        for unit in self.dwarf.iter_CUs():
            files = _Files(self.dwarf, unit, self.folders)
            functions += self._functions(unit, files)
            lines += files.spans()
        self.spans = _without_overlap(functions)
        self.labels = [*self._labels()]
        self.fallback = _without_overlap(
            [*lines, *((low, high, owner) for low, high, owner, _ in self.labels)]
        )
        for section in self.elf.iter_sections():
            if section["sh_flags"] & _EXECUTABLE:
                start, end = section["sh_addr"], section["sh_addr"] + section["sh_size"]
                for low, high in _gaps(self.spans, start, end):
                    self._between(low, high)

    def _functions(self, unit: Any, files: "_Files") -> Iterator[Span]:
        """The functions of a unit with code of their own; inlined functions are counted
        meanwhile."""
        pending = [unit.get_top_DIE()]
        while pending:
            die = pending.pop()
            if die.tag == "DW_TAG_subprogram":
                spans = ranges(self.dwarf, unit, die)
                if spans:
                    owner = files.owner(die)
                    self._note(files.declaration(die))
                    yield from ((low, high, owner) for low, high in spans)
                    self.found[owner] += _size(spans)
                    self._inlined(unit, files, die, owner)
                    continue
            if die.has_children and die.tag in SCOPES:
                pending.extend(die.iter_children())

    def _inlined(self, unit: Any, files: "_Files", function: Any, owner: str) -> None:
        """Move the bytes of functions inlined in `function` from its owner to their owners."""
        pending = [(child, owner) for child in function.iter_children()]
        while pending:
            die, around = pending.pop()
            mine = around
            if die.tag == "DW_TAG_inlined_subroutine":
                written = files.owner(die)
                self._note(files.declaration(die))
                mine = around if written == RUST else written
                size = _size(ranges(self.dwarf, unit, die))
                self.found[mine] += size
                self.found[around] -= size
            elif die.tag != "DW_TAG_lexical_block":
                continue
            pending += [(child, mine) for child in die.iter_children()]

    def _note(self, declaration: tuple[str, int] | None) -> None:
        if declaration is not None:
            self.origins.add(declaration)

    def _labels(self) -> Iterator[tuple[int, int, str, str]]:
        """Labels of assembly up to the next symbol, by the crate that defines them."""
        written: dict[str, tuple[str, Path]] = {}
        for name, folder in self.folders.items():
            for file in sources(folder):
                for label in re.findall(r'^\s*"?([A-Za-z_]\w*):', file.read_text(), re.MULTILINE):
                    written.setdefault(label, (name, file))
        table: Any = self.elf.get_section_by_name(".symtab")
        symbols = sorted((s["st_value"], s.name) for s in table.iter_symbols() if s["st_value"])
        known = [(at, name) for at, name in symbols if not name.startswith("$")]
        for (at, name), (following, _) in pairwise(known):
            if name in written and at < following:
                owner, file = written[name]
                self.labelled.setdefault(file, set()).add(name)
                yield at, following, owner, name

    def _between(self, low: int, high: int) -> None:
        at = low
        position = max(0, bisect_right(self.fallback, low, key=lambda span: span[0]) - 1)
        for start, end, owner in self.fallback[position:]:
            if start >= high:
                break
            start, end = max(start, at), min(end, high)
            if start < end:
                self.found[GENERATED] += start - at
                self.found[owner] += end - start
                at = end
        self.found[GENERATED] += high - at


LINKS = ("DW_AT_abstract_origin", "DW_AT_specification")
ORIGINS = 8
"""Limit of references to follow from a function to its declaration."""


class _Files:
    """The files of one compilation unit, with their owners."""

    def __init__(self, dwarf: Any, unit: Any, folders: dict[str, Path]) -> None:
        self.unit, self.folders = unit, folders
        self.program = dwarf.line_program_for_CU(unit)
        directory = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
        self.directory = directory.value.decode() if directory else ""
        self.known: dict[int, str] = {}

    def owner(self, die: Any) -> str:
        """The owner of a function: that of the file of its declaration, in any unit."""
        for files, origin in self._origins(die):
            if "DW_AT_decl_file" in origin.attributes:
                return files._owner(origin.attributes["DW_AT_decl_file"].value)
        return GENERATED

    def declaration(self, die: Any) -> tuple[str, int] | None:
        """File and line of a function; none for a closure, which is part of another function."""
        for files, origin in self._origins(die):
            name = origin.attributes.get("DW_AT_name")
            if name is not None and name.value.startswith(b"{"):
                return None
            if "DW_AT_decl_file" in origin.attributes and "DW_AT_decl_line" in origin.attributes:
                file = files._name(origin.attributes["DW_AT_decl_file"].value)
                return file, origin.attributes["DW_AT_decl_line"].value
        return None

    def _origins(self, die: Any) -> Iterator[tuple["_Files", Any]]:
        """A function, then its abstract origins and declarations, each with the files of its
        unit."""
        files = self
        for _ in range(ORIGINS):
            yield files, die
            link = next((name for name in LINKS if name in die.attributes), None)
            if link is None:
                return
            die = die.get_DIE_from_attribute(link)
            if die.cu is not files.unit:
                files = _Files(die.dwarfinfo, die.cu, files.folders)

    def spans(self) -> Iterator[Span]:
        """The line table as address ranges and owners."""
        for low, high, state in line_table(self.program):
            yield low, high, self._owner(state.file)

    def _owner(self, number: int) -> str:
        if number not in self.known:
            self.known[number] = owner(self._name(number), self.folders)
        return self.known[number]

    def _name(self, number: int) -> str:
        return file_of(self.directory, path(self.program, number))


def line_table(program: Any) -> Iterator[tuple[int, int, Any]]:
    """A unit's line table: each range of addresses with the state of its row."""
    last = None
    for entry in program.get_entries() if program else ():
        state = entry.state
        if state is None:
            continue
        if last is not None and 0 < last.address < state.address:
            yield last.address, state.address, last
        last = None if state.end_sequence else state


def owner(path: str, folders: dict[str, Path]) -> str:
    """The owner of a file. The last match counts: an absolute path may follow another."""
    for name, folder in folders.items():
        if f"{folder}/" in f"{path}/":
            return name
    found = [
        (match.start(), match.expand(fixed or r"\1"))
        for pattern, fixed in _PATTERNS
        for match in pattern.finditer(path)
    ]
    return max(found, default=(0, GENERATED))[1]


def _size(spans: Iterable[tuple[int, int]]) -> int:
    return sum(high - low for low, high in spans)


def _without_overlap(spans: Iterable[Span]) -> list[Span]:
    """The spans in order; of two that overlap, the one that begins first keeps the bytes."""
    kept: list[Span] = []
    end = 0
    for low, high, name in sorted(spans):
        low = max(low, end)
        if low < high:
            kept.append((low, high, name))
            end = high
    return kept


def _gaps(spans: list[Span], start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for low, high, _ in spans:
        if high <= start or low >= end:
            continue
        if at < low:
            yield at, low
        at = max(at, high)
    if at < end:
        yield at, end
