"""Line coverage of an image, from executed addresses and debug information.

The line table maps each instruction to its line, inlined code included. A line counts if an image
has code for it, by a row that begins a statement; it is covered if any of its instructions was
executed in any image. Lines without an instruction after optimisation do not count, nor do
instructions without a line. Assembly has no lines in the table: its instructions are counted by
themselves, by the labels in the library's source.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path

from elftools.elf.elffile import ELFFile

from tenonos.analysis.source_locations import SourceLocations, file_of, path
from tenonos.build.attribution import Ownership, line_table, owner

Line = tuple[str, int]
"""A file, as seen from the project's folder, and a line of it."""
Span = tuple[int, int]

INSTRUCTION = 4
EXECUTABLE = 4  # SHF_EXECINSTR
PADDING = (bytes(4), bytes.fromhex("1f2003d5"))
"""Padding in front of aligned code: zeros and NOPs."""


@dataclass(frozen=True)
class Gap:
    """Consecutive lines of a function that were not executed; lines between them have no code."""

    function: str
    file: str
    first: int
    last: int

    def __str__(self) -> str:
        lines = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.file}:{lines} {self.function}"


@dataclass(frozen=True, order=True)
class Written:
    """An instruction of assembly, by its label and offset, the same in every image."""

    library: str
    label: str
    size: int
    offset: int


class Image:
    """The code of an image by source line."""

    def __init__(self, content: bytes, folders: dict[str, Path]) -> None:
        self._content, self._folders = content, folders
        self.lines: dict[Line, list[Span]] = {}
        """The addresses of the code of each line of the project's own."""
        statements: set[Line] = set()
        elf = ELFFile(BytesIO(content))
        dwarf = elf.get_dwarf_info()
        # The linker keeps the lines of dropped functions, at addresses from 0 on.
        code = [range(at, at + len(data)) for at, data in executable(elf)]
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            directory = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
            folder = directory.value.decode() if directory else ""
            files: dict[int, str | None] = {}
            for low, high, row in line_table(program):
                if row.file not in files:
                    files[row.file] = self._own(file_of(folder, path(program, row.file)))
                file = files[row.file]
                if file is None or not row.line or not any(low in each for each in code):
                    continue
                self.lines.setdefault((file, row.line), []).append((low, high))
                if row.is_stmt:
                    statements.add((file, row.line))
        self.lines = {line: spans for line, spans in self.lines.items() if line in statements}

    def _own(self, file: str) -> str | None:
        """A file of a library, and of no other code."""
        return file if owner(file, self._folders) in self._folders else None

    def library(self, line: Line) -> str:
        """The library that contains a line."""
        return owner(line[0], self._folders)

    @cached_property
    def assembly(self) -> dict[int, Written]:
        """The instructions of assembly; padding is none."""
        found: dict[int, Written] = {}
        ownership = Ownership(self._content, self._folders)
        for start, data in executable(ownership.elf):
            for low, high, library, label in ownership.labels:
                for at in range(max(low, start), min(high, start + len(data)), INSTRUCTION):
                    if data[at - start : at - start + INSTRUCTION] not in PADDING:
                        found[at] = Written(library, label, high - low, at - low)
        return found

    @cached_property
    def _locations(self) -> SourceLocations:
        return SourceLocations(ELFFile(BytesIO(self._content)))

    def function(self, line: Line) -> str:
        """The function that contains a line, as far as the debug information knows."""
        places = self._locations.at(self.lines[line][0][0])
        return places[-1].name if places else "?"


def executable(elf: ELFFile) -> Iterator[tuple[int, bytes]]:
    """Addresses and contents of the sections with code."""
    for section in elf.iter_sections():
        if section["sh_flags"] & EXECUTABLE:
            yield section["sh_addr"], section.data()


@dataclass
class Coverage:
    """Executed code of several images together."""

    lines: dict[Line, bool] = field(default_factory=dict)
    """Whether it was executed."""
    libraries: dict[Line, str] = field(default_factory=dict)
    assembly: dict[Written, bool] = field(default_factory=dict)
    _images: dict[Line, Image] = field(default_factory=dict)

    def add(self, image: Image, executed: Collection[int]) -> None:
        """Add a run by the addresses of the instructions that it executed."""
        for line, spans in image.lines.items():
            self.libraries[line] = image.library(line)
            self._images.setdefault(line, image)
            was = self.lines.get(line, False)
            self.lines[line] = was or any(
                at in executed for low, high in spans for at in range(low, high, INSTRUCTION)
            )
        for at, written in image.assembly.items():
            self.assembly[written] = self.assembly.get(written, False) or at in executed

    def of(self, library: str | None = None) -> tuple[int, int]:
        """The numbers of lines and of covered lines of a library, or of all."""
        return _counted(
            covered
            for line, covered in self.lines.items()
            if library in (None, self.libraries[line])
        )

    def written(self, library: str | None = None) -> tuple[int, int]:
        """The numbers of instructions of assembly and of executed ones."""
        return _counted(
            covered
            for written, covered in self.assembly.items()
            if library in (None, written.library)
        )

    def gaps(self, library: str) -> Iterator[Gap]:
        """The uncovered lines of a library, in the order of its files."""
        gap: Gap | None = None
        for line, covered in sorted(self.lines.items()):
            if self.libraries[line] != library:
                continue
            function = None if covered else self._images[line].function(line)
            if gap and (function, line[0]) == (gap.function, gap.file):
                gap = replace(gap, last=line[1])
                continue
            if gap:
                yield gap
            gap = None if function is None else Gap(function, line[0], line[1], line[1])
        if gap:
            yield gap

    def skipped(self, library: str) -> Iterator[str]:
        """The instructions of assembly that were not executed, by label and offset in bytes."""
        blocks: dict[tuple[str, int], dict[int, bool]] = {}
        for written, covered in sorted(self.assembly.items()):
            if written.library == library:
                block = blocks.setdefault((written.label, written.size), {})
                block[written.offset] = covered
        for (label, _), block in blocks.items():
            offsets = [offset for offset, covered in block.items() if not covered]
            if offsets:
                yield f"{label}: {len(offsets)} of {len(block)}, from +{offsets[0]:#x}"


def _counted(covered: Iterable[bool]) -> tuple[int, int]:
    each = [*covered]
    return len(each), sum(each)
